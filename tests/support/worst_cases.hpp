// Tables whose roundings are related from column to column or from row to row: what averages out on random points adds up on
// these.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "support/datasets.hpp"

namespace fd::test {

// Rows of the Hadamard matrix: +1 and -1, all at the same distance from each other.
inline Dataset hadamard(std::size_t rows, std::size_t dimension) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c) data.x[i * dimension + c] = std::popcount((i + 1) & c) % 2 == 0 ? 1 : -1;
  return data;
}

// Rotations of one row of +1 and -1.
inline Dataset circulant(std::size_t rows, std::size_t dimension) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c)
      data.x[i * dimension + c] = Random(8, 0).uniform((c + i) % dimension) < 0.5 ? 1 : -1;
  return data;
}

// The first rows of a cubic lattice of `side` points an edge.
inline Dataset cubic_lattice(std::size_t rows, std::size_t dimension, std::size_t side) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0, left = i; c < dimension; ++c, left /= side)
      data.x[i * dimension + c] = static_cast<double>(left % side) - 0.5 * static_cast<double>(side - 1);
  return data;
}

inline Dataset one_hot(std::size_t rows, std::size_t dimension) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension, 0.0)};
  for (std::size_t i = 0; i < rows; ++i) data.x[i * dimension + Random(4, 0).bits(i)[0] % dimension] = 1;
  return data;
}

inline Dataset zeros_and_ones(std::size_t rows, std::size_t dimension) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  for (std::size_t i = 0; i < data.x.size(); ++i) data.x[i] = Random(6, 0).uniform(i) < 0.5 ? 0 : 1;
  return data;
}

inline std::vector<std::pair<const char*, Dataset>> worst_cases() {
  return {{"Hadamard", hadamard(128, 1024)},
          {"circulant", circulant(128, 256)},
          {"lattice", cubic_lattice(216, 3, 6)},
          {"one-hot", one_hot(150, 40)},
          {"zeros and ones", zeros_and_ones(150, 64)},
          {"two values", cubic_lattice(100, 1, 2)},
          {"points of a line", cubic_lattice(200, 1, 200)}};
}

// The bandwidth at which the largest row, scaled, has this norm: |x|^2 2 beta log2 e.
inline double beta_for_norm(const Dataset& data, double norm) {
  double largest = 0;
  for (std::size_t i = 0; i < data.rows; ++i) {
    double square = 0;
    for (std::size_t c = 0; c < data.dimension; ++c) square += data.x[i * data.dimension + c] * data.x[i * data.dimension + c];
    largest = std::max(largest, square);
  }
  return norm * norm / (2 * std::numbers::log2e * largest);
}

}  // namespace fd::test
