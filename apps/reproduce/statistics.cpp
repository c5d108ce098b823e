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
  if (std::isnan(paper.number))
    return unmeasured(std::move(claim), std::move(where), std::move(paper), "the paper has no such number");
  if (std::isnan(ours.number)) why = "ours is not a number";
  const bool holds = std::abs(ours.number - paper.number) <= allowed;
  return stated(std::move(claim), std::move(where), std::move(paper), std::move(ours), holds, std::move(rule), std::move(why));
}

Comparison stated(std::string claim, std::string where, Value paper, Value ours, bool holds, std::string rule, std::string why) {
  return {std::move(claim),
          std::move(where),
          std::move(paper),
          std::move(ours),
          std::move(rule),
          holds ? Verdict::agrees : Verdict::differs,
          holds ? std::string() : std::move(why)};
}

Tally tally_of(const std::vector<Comparison>& comparisons) {
  Tally tally;
  for (const Comparison& c : comparisons) switch (c.verdict) {
      case Verdict::agrees: ++tally.agrees; break;
      case Verdict::differs: ++tally.differs; break;
      case Verdict::unmeasured: ++tally.unmeasured; break;
    }
  return tally;
}

bool far_enough_apart(const std::vector<std::pair<double, double>>& points) {
  if (points.empty()) return false;
  const auto [least, most] = std::minmax_element(points.begin(), points.end());
  return most->first >= 2 * least->first;
}

Comparison calculated(std::string claim, std::string where, Value paper, Value ours, std::string why) {
  return {std::move(claim), std::move(where), std::move(paper), std::move(ours), {}, Verdict::unmeasured, "calculated: " + why};
}

Comparison unmeasured(std::string claim, std::string where, Value paper, std::string why) {
  return {std::move(claim), std::move(where), std::move(paper), {}, {}, Verdict::unmeasured, std::move(why)};
}

}  // namespace fd::reproduce
