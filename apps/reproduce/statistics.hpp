// What repeated runs say: mean and standard deviation, and whether two such values agree. NaN agrees with nothing.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "reproduce/experiment.hpp"

namespace fd::reproduce {

// Spread: the standard deviation of the runs, n - 1 below the root; not known for a single one.
Value mean_of(const std::vector<double>& runs);

// Median of times, which other programs on the machine disturb less than a mean; spread: half the width of their middle half.
Value median_of(std::vector<double> runs);

// Agreement: |ours - paper| <= `allowed`; a NaN of ours differs. `why` is said of a difference alone.
Comparison compared(std::string claim, std::string where, Value paper, Value ours, double allowed, std::string rule,
                    std::string why = {});
// A claim that is true or not.
Comparison stated(std::string claim, std::string where, Value paper, Value ours, bool holds, std::string rule,
                  std::string why = {});
Comparison unmeasured(std::string claim, std::string where, Value paper, std::string why);
// A number of the paper's that follows from others of its own, or from geometry: ours is worked out beside it, and nothing was measured.
Comparison calculated(std::string claim, std::string where, Value paper, Value ours, std::string why);

// How many claims of each verdict, for whoever says it in words.
struct Tally {
  std::size_t agrees = 0, differs = 0, unmeasured = 0;
  std::size_t measured() const { return agrees + differs; }
};
Tally tally_of(const std::vector<Comparison>& comparisons);

// An exponent needs sizes that are apart: less than a factor of two, and it is noise.
bool far_enough_apart(const std::vector<std::pair<double, double>>& points);

}  // namespace fd::reproduce
