#include "base/power_law.hpp"

#include <cmath>
#include <limits>

namespace fd {

// With X = log x, Y = log y about their means, the slope is sum XY / sum XX and its standard error sqrt(residual / (m - 2) / sum XX).
Exponent power_law(const std::vector<std::pair<double, double>>& points) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double m = static_cast<double>(points.size());
  double x_mean = 0, y_mean = 0;
  for (const auto& [x, y] : points) x_mean += std::log(x) / m, y_mean += std::log(y) / m;
  double xx = 0, xy = 0;
  for (const auto& [x, y] : points) {
    const double from_mean = std::log(x) - x_mean;
    xx += from_mean * from_mean;
    xy += from_mean * (std::log(y) - y_mean);
  }
  if (points.size() < 2 || !(xx > 0)) return {nan, nan};
  const double slope = xy / xx;
  if (points.size() < 3) return {slope, nan};
  double residual = 0;
  for (const auto& [x, y] : points) {
    const double miss = std::log(y) - y_mean - slope * (std::log(x) - x_mean);
    residual += miss * miss;
  }
  return {slope, std::sqrt(residual / (m - 2) / xx)};
}

}  // namespace fd
