// What repeated runs say: mean and standard deviation, and whether two such values agree. NaN agrees with nothing.
#pragma once

#include <vector>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Spread: the standard deviation of the runs, n - 1 below the root; not known for a single one.
Value mean_of(const std::vector<double>& runs);

// Median of times, which other programs on the machine disturb less than a mean; spread: half the width of their middle half.
Value median_of(std::vector<double> runs);

// Agreement: |ours - paper| <= `allowed`.
Comparison compared(std::string claim, std::string where, Value paper, Value ours, double allowed, std::string rule,
                    std::string why = {});
// A claim that is true or not.
Comparison stated(std::string claim, std::string where, Value paper, Value ours, bool holds, std::string rule,
                  std::string why = {});
std::size_t count_of(const std::vector<Comparison>& comparisons, Verdict verdict);
Comparison unmeasured(std::string claim, std::string where, Value paper, std::string why);

}  // namespace fd::reproduce
