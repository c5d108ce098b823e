// Points with known geometry, made from counter-based random numbers: the same on every machine.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.hpp"

namespace fd::test {

struct Dataset {
  std::size_t rows, dimension;
  std::vector<double> x;  // row-major
};

// The paper's flat torus T^6: six circles of unequal radii in R^12, padded with zeros to `dimension`.
inline Dataset torus(std::size_t rows, std::size_t dimension = 12, std::uint64_t seed = 42) {
  constexpr double radius[6] = {1.00, 1.08, 1.17, 1.27, 1.38, 1.50};
  Dataset data{rows, dimension, std::vector<double>(rows * dimension, 0.0)};
  for (std::size_t a = 0; a < 6; ++a) {
    const Random random(seed, a);
    for (std::size_t i = 0; i < rows; ++i) {
      const double angle = 2 * std::numbers::pi * random.uniform(i);
      data.x[i * dimension + 2 * a] = radius[a] * std::cos(angle);
      data.x[i * dimension + 2 * a + 1] = radius[a] * std::sin(angle);
    }
  }
  return data;
}

// A Swiss roll of unit variance in each coordinate.
inline Dataset swiss_roll(std::size_t rows, std::uint64_t seed = 7) {
  Dataset data{rows, 3, std::vector<double>(rows * 3)};
  const Random angle(seed, 0), height(seed, 1);
  for (std::size_t i = 0; i < rows; ++i) {
    const double t = 1.5 * std::numbers::pi * (1 + 2 * angle.uniform(i));
    data.x[i * 3] = t * std::cos(t);
    data.x[i * 3 + 1] = 21 * height.uniform(i);
    data.x[i * 3 + 2] = t * std::sin(t);
  }
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < rows; ++i) mean += data.x[i * 3 + c] / static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i) square += std::pow(data.x[i * 3 + c] - mean, 2) / static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i) data.x[i * 3 + c] = (data.x[i * 3 + c] - mean) / std::sqrt(square);
  }
  return data;
}

inline Dataset gaussian(std::size_t rows, std::size_t dimension, std::uint64_t seed = 3) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  for (std::size_t i = 0; i < data.x.size(); ++i) data.x[i] = Random(seed, 0).normal(i);
  return data;
}

}  // namespace fd::test
