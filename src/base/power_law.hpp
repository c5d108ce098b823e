// y ~ x^exponent: least squares of log y on log x.
#pragma once

#include <utility>
#include <vector>

namespace fd {

struct Exponent {
  double value;        // NaN for fewer than two different x
  double uncertainty;  // its standard error; NaN for fewer than three points
};

// Pairs (x, y), all positive; NaN comes out as NaN.
Exponent power_law(const std::vector<std::pair<double, double>>& points);

}  // namespace fd
