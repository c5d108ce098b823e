// The score of two subspaces: against known angles, whatever the bases, and with values that are no numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/subspace_overlap.hpp"
#include "base/power_law.hpp"
#include "base/random.hpp"

namespace fd {
namespace {

constexpr std::size_t rows = 10000;  // more than one block

double wave(std::size_t row, int harmonic, bool sine) {
  const double angle = 2 * 3.14159265358979323846 * harmonic * static_cast<double>(row) / rows;
  return sine ? std::sin(angle) : std::cos(angle);
}

Functions doublet(int harmonic) {
  return {
      2, [=](std::size_t row, double* values) { values[0] = wave(row, harmonic, false), values[1] = wave(row, harmonic, true); }};
}

TEST(SubspaceOverlap, IsOneForTheSameSpanInAnyBasis) {
  const Functions mixed = {2, [](std::size_t row, double* values) {
                             const double c = wave(row, 1, false), s = wave(row, 1, true);
                             values[0] = 1e-3 * (c + 2 * s) + 7, values[1] = 50 * (c - s) - 1;  // offsets are no part of it
                           }};
  EXPECT_NEAR(subspace_overlap(rows, mixed, doublet(1)), 1, 1e-10);
  EXPECT_NEAR(subspace_overlap(rows, doublet(1), doublet(2)), 0, 1e-10);
}

// One direction shared, the other turned by an angle t towards a direction outside: (1 + cos^2 t) / 2.
TEST(SubspaceOverlap, IsTheMeanSquaredCosine) {
  const double t = 0.4;
  const Functions turned = {2, [=](std::size_t row, double* values) {
                              values[0] = wave(row, 1, false);
                              values[1] = std::cos(t) * wave(row, 1, true) + std::sin(t) * wave(row, 3, true);
                            }};
  EXPECT_NEAR(subspace_overlap(rows, turned, doublet(1)), (1 + std::cos(t) * std::cos(t)) / 2, 1e-10);
}

TEST(SubspaceOverlap, CountsTheSmallerSubspace) {
  const Functions one = {1, [](std::size_t row, double* values) { values[0] = wave(row, 1, true); }};
  EXPECT_NEAR(subspace_overlap(rows, one, doublet(1)), 1, 1e-10);
  EXPECT_NEAR(subspace_overlap(rows, doublet(1), one), 1, 1e-10);
}

TEST(SubspaceOverlap, OfNoiseIsSmallAndOfNaNIsNaN) {
  const Functions noise = {
      2, [](std::size_t row, double* values) { values[0] = Random(1, 0).normal(row), values[1] = Random(1, 1).normal(row); }};
  EXPECT_LT(subspace_overlap(rows, noise, doublet(1)), 20.0 / rows);
  const Functions broken = {2, [](std::size_t row, double* values) {
                              values[0] = row == 77 ? std::numeric_limits<double>::quiet_NaN() : 1.0, values[1] = 2;
                            }};
  EXPECT_TRUE(std::isnan(subspace_overlap(rows, broken, doublet(1))));
}

TEST(PowerLaw, FindsItsExponentAndItsUncertainty) {
  const Exponent exact = power_law({{1, 2}, {10, 2 * std::pow(10, 0.3)}, {100, 2 * std::pow(100, 0.3)}});
  EXPECT_NEAR(exact.value, 0.3, 1e-12);
  EXPECT_NEAR(exact.uncertainty, 0, 1e-12);
  // three points, one degree of freedom: the middle one is off the mean of the others by m, the residual m^2 2/3, sum XX 2 log(10)^2
  const double off = std::log(5) - 0.5 * (std::log(2) + std::log(7));
  EXPECT_NEAR(power_law({{1, 2}, {10, 5}, {100, 7}}).uncertainty, off / std::sqrt(3) / std::log(10), 1e-12);
  EXPECT_TRUE(std::isnan(power_law({{1, 2}, {10, 5}}).uncertainty));
  EXPECT_TRUE(std::isnan(power_law({{3, 2}}).value));
  EXPECT_TRUE(std::isnan(power_law({{3, 2}, {3, 4}}).value));
  EXPECT_TRUE(std::isnan(power_law({{1, 2}, {2, std::numeric_limits<double>::quiet_NaN()}}).value));
}

}  // namespace
}  // namespace fd
