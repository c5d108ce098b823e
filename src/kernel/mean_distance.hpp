// How far the points are on the average that a row of the kernel sees: what roundings of coordinates are multiplied by.
#pragma once

#include <cmath>
#include <numbers>

namespace fd {

// For points scaled so that entries are k = 2^(-r^2/2): the largest sum r_j k_j / (1 + sum k_j) over N neighbours. It is stationary where
// r (r - mean) = log2 e for each of them: all are at the same distance r, the mean is r - log2 e / r, and N 2^(-r^2/2) = r^2 ln 2 - 1.
inline double mean_distance(double neighbours) {
  constexpr double log2e = std::numbers::log2e, step = 1.0 / 64;
  double r = std::sqrt(log2e);
  while (std::exp2(r * r / 2) * (r * r / log2e - 1) < neighbours) r += step;
  return r - log2e / r;
}

}  // namespace fd
