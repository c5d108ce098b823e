// What repeated runs say: mean and standard deviation, and whether two such values agree. NaN agrees with nothing.
#pragma once

#include <vector>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Spread: the standard deviation of the runs, n - 1 below the root; not known for a single one.
Value mean_of(const std::vector<double>& runs);

// The difference over the two spreads together, sqrt(a^2 + b^2); a spread that is not known counts as none. NaN where neither is known.
double deviations_apart(const Value& a, const Value& b);

// Agreement: |ours - paper| <= `allowed`.
Comparison compared(std::string claim, std::string where, Value paper, Value ours, double allowed, std::string rule,
                    std::string why = {});
// A claim that is true or not.
Comparison stated(std::string claim, std::string where, Value paper, Value ours, bool holds, std::string rule,
                  std::string why = {});
Comparison unmeasured(std::string claim, std::string where, Value paper, std::string why);

}  // namespace fd::reproduce
