// What must not change a result: the number of threads (to the bit), a translation, a rotation, the order of the rows, constant columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/datasets.hpp"

namespace fd::test {
namespace {

Model fitted(const Dataset& data, int threads = 2, Precision precision = Precision::fp32) {
  Options options;
  options.modes = 6;
  options.beta = 0.5;
  options.threads = threads;
  options.precision = {precision};
  return fit(PointsView(data.x.data(), data.rows, data.dimension), options);
}

// Two eigenvalues of the same operator computed twice: each is off by the kernel's row error at most (see the contract tests), in practice
// by far less.
const double two_fp32_results = 2 * traits(Precision::fp32).row_error;

void expect_same_spectrum(const Model& a, const Model& b) {
  for (std::size_t j = 0; j < a.modes(); ++j) EXPECT_NEAR(a.eigenvalues[j], b.eigenvalues[j], two_fp32_results);
}

TEST(Invariance, SameBitsForAnyNumberOfThreads) {
  for (const std::size_t rows : {1500, 2600}) {
    const Dataset data = torus(rows);
    const Model one = fitted(data, 1);
    for (const int threads : {2, 3, 8}) {
      const Model many = fitted(data, threads);
      EXPECT_EQ(one.eigenvalues, many.eigenvalues);
      EXPECT_EQ(one.residuals, many.residuals);
      EXPECT_EQ(one.q, many.q);
      EXPECT_EQ(one.d, many.d);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < one.modes(); ++j)
          ASSERT_EQ(one.psi(i, j), many.psi(i, j)) << threads << " threads, row " << i;
    }
  }
}

TEST(Invariance, Translation) {
  const Dataset data = torus(800);
  Dataset moved = data;
  for (std::size_t i = 0; i < moved.x.size(); ++i) moved.x[i] += 1e6 * (1 + static_cast<double>(i % 12));
  expect_same_spectrum(fitted(data), fitted(moved));
}

TEST(Invariance, Rotation) {
  const Dataset data = torus(800);
  Dataset turned = data;
  for (std::size_t i = 0; i < data.rows; ++i)
    for (std::size_t c = 0; c + 1 < 12; ++c) {  // a chain of plane rotations
      const double u = turned.x[i * 12 + c], v = turned.x[i * 12 + c + 1], angle = 0.3 + 0.2 * static_cast<double>(c);
      turned.x[i * 12 + c] = std::cos(angle) * u - std::sin(angle) * v;
      turned.x[i * 12 + c + 1] = std::sin(angle) * u + std::cos(angle) * v;
    }
  expect_same_spectrum(fitted(data), fitted(turned));
}

TEST(Invariance, OrderOfTheRows) {
  const Dataset data = torus(800);
  Dataset shuffled = data;
  std::vector<std::size_t> order(data.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [](std::size_t a, std::size_t b) { return Random(1, 1).uniform(a) < Random(1, 1).uniform(b); });
  for (std::size_t i = 0; i < data.rows; ++i)
    std::copy_n(data.x.begin() + static_cast<std::ptrdiff_t>(order[i] * 12), 12,
                shuffled.x.begin() + static_cast<std::ptrdiff_t>(i * 12));
  const Model a = fitted(data), b = fitted(shuffled);
  expect_same_spectrum(a, b);
  for (std::size_t i = 0; i < data.rows; ++i) EXPECT_NEAR(b.d[i], a.d[order[i]], 1e-5 * a.d[order[i]]);
}

TEST(Invariance, ConstantColumnsCostNothingAndChangeNothing) {
  const Dataset narrow = torus(700, 12), padded = torus(700, 40);
  const Model a = fitted(narrow), b = fitted(padded);
  EXPECT_EQ(a.eigenvalues, b.eigenvalues);
  EXPECT_EQ(b.dimension, 40u);
}

TEST(Invariance, ScalingPointsAndBandwidthTogether) {
  Dataset data = torus(600);
  const Model a = fitted(data);
  for (double& value : data.x) value *= 1e-3;
  Options options;
  options.modes = 6;
  options.beta = 0.5e6;
  expect_same_spectrum(a, fit(PointsView(data.x.data(), data.rows, data.dimension), options));
}

TEST(Operator, TheKernelProductIsSymmetric) {
  const Dataset data = gaussian(301, 4);
  std::vector<double> w(301 * 2);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(Random(2, 2).normal(i));
  const Table y = kernel_product(PointsView(data.x.data(), 301, 4), PointsView(w.data(), 301, 2), 0.3);
  double ab = 0, ba = 0, size = 0;
  for (std::size_t i = 0; i < 301; ++i) {
    ab += w[2 * i] * y(i, 1);
    ba += w[2 * i + 1] * y(i, 0);
    size += std::abs(w[2 * i] * y(i, 1));
  }
  EXPECT_NEAR(ab, ba, 1e-6 * size);
}

}  // namespace
}  // namespace fd::test
