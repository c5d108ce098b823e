#include "common/made_points.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {

namespace {

constexpr double radius[torus_circles] = {1.00, 1.08, 1.17, 1.27, 1.38, 1.50};

double on_circle(std::size_t row, std::size_t column, std::uint64_t seed, double scale) {
  const std::size_t circle = column / 2 % torus_circles;
  const double angle = torus_angle(row, circle, seed);
  return scale * radius[circle] * (column % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace

double torus_angle(std::size_t row, std::size_t circle, std::uint64_t seed) {
  return 2 * std::numbers::pi * Random(seed, circle).uniform(row);
}

Table torus(std::size_t rows, std::size_t dimension) {
  const double spread = std::sqrt(12.0 / static_cast<double>(dimension));
  Table points(rows, dimension, true);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c) points.set(i, c, on_circle(i, c, 42, spread));
  return points;
}

Table padded_torus(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Table points(rows, columns, true);
  for (std::size_t i = 0; i < rows; ++i) {
    throw_if_interrupted();
    for (std::size_t c = 0; c < std::min(columns, 2 * torus_circles); ++c) points.set(i, c, on_circle(i, c, seed, 1));
  }
  return points;
}

std::vector<double> swiss_roll_angles(std::size_t rows) {
  const Random along(7, 0);
  std::vector<double> angles(rows);
  for (std::size_t i = 0; i < rows; ++i) angles[i] = 1.5 * std::numbers::pi * (1 + 2 * along.uniform(i));
  return angles;
}

Table swiss_roll(std::size_t rows, bool wide) {
  Table points(rows, 3, wide);
  const Random across(7, 1);
  const std::vector<double> angles = swiss_roll_angles(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double t = angles[i];
    points.set(i, 0, t * std::cos(t));
    points.set(i, 1, 21 * across.uniform(i));
    points.set(i, 2, t * std::sin(t));
  }
  const auto n = static_cast<double>(rows);
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < rows; ++i) mean += points(i, c) / n;
    for (std::size_t i = 0; i < rows; ++i) square += (points(i, c) - mean) * (points(i, c) - mean) / n;
    for (std::size_t i = 0; i < rows; ++i) points.set(i, c, (points(i, c) - mean) / std::sqrt(square));
  }
  return points;
}

}  // namespace fd::cli
