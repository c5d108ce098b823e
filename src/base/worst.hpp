// Comparisons in which NaN never looks good: std::max(0.0, NaN) is 0, and NaN > limit is false.
#pragma once

#include <cmath>

namespace fd {

// The larger of the two; NaN where either is.
inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

// The root of a sum of squares, which rounding may have left a little below zero; NaN stays NaN.
inline double root(double square) { return square <= 0 ? 0 : std::sqrt(square); }

}  // namespace fd
