#include "reproduce/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fd::reproduce {

Value mean_of(const std::vector<double>& runs) {
  if (runs.empty()) return {};
  const double count = static_cast<double>(runs.size());
  double mean = 0, square = 0;
  for (const double run : runs) mean += run / count;
  for (const double run : runs) square += (run - mean) * (run - mean);
  return {mean, runs.size() > 1 ? std::sqrt(square / (count - 1)) : std::numeric_limits<double>::quiet_NaN()};
}

Value median_of(std::vector<double> runs) {
  if (runs.empty()) return {};
  std::sort(runs.begin(), runs.end());
  // Between runs on a straight line: of two runs the median is their mean, and the middle half half their distance.
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(runs.size() - 1);
    const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, runs.size() - 1);
    return runs[below] + (place - static_cast<double>(below)) * (runs[above] - runs[below]);
  };
  return {quantile(0.5), runs.size() > 1 ? 0.5 * (quantile(0.75) - quantile(0.25)) : std::numeric_limits<double>::quiet_NaN()};
}

Comparison compared(std::string claim, std::string where, Value paper, Value ours, double allowed, std::string rule,
                    std::string why) {
  if (std::isnan(ours.number) || std::isnan(paper.number))
    return unmeasured(std::move(claim), std::move(where), std::move(paper), "not a number here: too few sizes or runs");
  const bool holds = std::abs(ours.number - paper.number) <= allowed;
  return stated(std::move(claim), std::move(where), std::move(paper), std::move(ours), holds, std::move(rule), std::move(why));
}

Comparison stated(std::string claim, std::string where, Value paper, Value ours, bool holds, std::string rule, std::string why) {
  return {std::move(claim), std::move(where), std::move(paper),
          std::move(ours),  std::move(rule),  holds ? Verdict::agrees : Verdict::differs,
          std::move(why)};
}

std::size_t count_of(const std::vector<Comparison>& comparisons, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(comparisons.begin(), comparisons.end(), [&](const Comparison& c) { return c.verdict == verdict; }));
}

Comparison unmeasured(std::string claim, std::string where, Value paper, std::string why) {
  return {std::move(claim), std::move(where), std::move(paper), {}, {}, Verdict::unmeasured, std::move(why)};
}

}  // namespace fd::reproduce
