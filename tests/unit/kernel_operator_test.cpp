// The kernel as a linear operator: entries, the transposed product, equal points, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/kernel_operator.hpp>

#include "support/datasets.hpp"

namespace fd::test {
namespace {

PointsView view(const Dataset& data) { return {data.x.data(), data.rows, data.dimension}; }

double entry(const Dataset& x, std::size_t i, const Dataset& z, std::size_t j, double beta) {
  double square = 0;
  for (std::size_t c = 0; c < x.dimension; ++c) square += std::pow(x.x[i * x.dimension + c] - z.x[j * z.dimension + c], 2);
  return std::exp(-beta * square);
}

Options fp64() {
  Options options;
  options.precision = {Precision::fp64};
  return options;
}

// Many products from one load, each against the sum itself. A column that is constant in one set still counts between two.
TEST(KernelOperator, AppliesTheKernelAndItsTransposeAgainAndAgain) {
  Dataset x = gaussian(70, 3, 1), z = gaussian(53, 3, 2);
  for (std::size_t j = 0; j < z.rows; ++j) z.x[j * 3 + 1] = 0.75;
  const KernelOperator symmetric(view(x), 0.4, fp64()), between(view(x), view(z), 0.4, fp64());
  ASSERT_EQ(symmetric.rows(), 70u);
  ASSERT_EQ(symmetric.columns(), 70u);
  ASSERT_EQ(between.rows(), 70u);
  ASSERT_EQ(between.columns(), 53u);
  for (std::size_t width : {1u, 5u, 2u}) {
    const Dataset w = gaussian(70, width, 10 + width), u = gaussian(53, width, 20 + width);
    const Table kw = symmetric.apply(view(w)), bu = between.apply(view(u)), btw = between.apply_transposed(view(w));
    ASSERT_EQ(btw.rows(), 53u);
    for (std::size_t c = 0; c < width; ++c) {
      for (std::size_t i = 0; i < 70; ++i) {
        double within = 0, across = 0;
        for (std::size_t j = 0; j < 70; ++j) within += entry(x, i, x, j, 0.4) * w.x[j * width + c];
        for (std::size_t j = 0; j < 53; ++j) across += entry(x, i, z, j, 0.4) * u.x[j * width + c];
        EXPECT_NEAR(kw(i, c), within, 1e-12);
        EXPECT_NEAR(bu(i, c), across, 1e-12);
      }
      for (std::size_t j = 0; j < 53; ++j) {
        double across = 0;
        for (std::size_t i = 0; i < 70; ++i) across += entry(x, i, z, j, 0.4) * w.x[i * width + c];
        EXPECT_NEAR(btw(j, c), across, 1e-12);
      }
    }
  }
}

TEST(KernelOperator, EqualPointsHaveAKernelOfOnes) {
  const std::vector<double> x(8, 3.5), w(4, 1.0);
  const Table y = KernelOperator(PointsView(x.data(), 4, 2), 1.0).apply(PointsView(w.data(), 4, 1));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y(i, 0), 4, 4 * traits(Precision::fp32).row_error);
}

// Two points far apart, in fp32: beside the diagonal their entry is nothing, without it all there is.
TEST(KernelOperator, WithoutItsDiagonalItKeepsWhatIsSmall) {
  const std::vector<double> x = {0, 6}, w = {1, 2};
  const KernelOperator kernel(PointsView(x.data(), 2, 1), 1.0);
  const PointsView weights(w.data(), 2, 1);
  for (const Table& y : {kernel.apply(weights, nullptr, false), kernel.apply_transposed(weights, nullptr, false)}) {
    EXPECT_NEAR(y(0, 0) / (2 * std::exp(-36.0)), 1, 1e-4);
    EXPECT_NEAR(y(1, 0) / std::exp(-36.0), 1, 1e-4);
  }
}

TEST(KernelOperator, RefusesWhatItCannotUse) {
  Dataset x = gaussian(9, 2);
  const auto refused = [&](auto&& action, const std::string& word) {
    try {
      action();
      ADD_FAILURE() << "nothing was refused: " << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([&] { KernelOperator(view(x), 0.0); }, "beta");
  refused([&] { KernelOperator(view(x), nan); }, "beta");
  refused([&] { KernelOperator(view(x), PointsView(x.x.data(), 6, 3), 1.0); }, "columns");
  refused([&] { KernelOperator(PointsView(x.x.data(), 0, 2), 1.0); }, "no rows");
  refused([&] { KernelOperator(view(x), 1.0).apply(PointsView(x.x.data(), 8, 1)); }, "8 rows");
  refused([&] { KernelOperator(view(x), view(x), 1.0).apply(PointsView(x.x.data(), 9, 1), nullptr, false); }, "no diagonal");
  x.x[5] = nan;
  refused([&] { KernelOperator(view(x), 1.0); }, "X, row 3, column 2");
  refused([&] { KernelOperator(view(x), view(gaussian(4, 2)), 1.0); }, "NaN in X, row 3");
}

// Asked on the way in, while rows are read and put in order: whenever the answer is to stop, it is heeded there and then.
struct StopsAt final : Observer {
  explicit StopsAt(std::size_t at) : last(at) {}
  bool stop() override { return ++asked >= last; }
  std::size_t last, asked = 0;
};

TEST(KernelOperator, LoadingCanBeStopped) {
  const Dataset x = gaussian(std::size_t{1} << 17, 4, 1), z = gaussian(std::size_t{1} << 17, 4, 2);
  const std::size_t pieces = 4;  // of a table, of which a reading is one
  for (const bool symmetric : {true, false}) {
    const auto load = [&](StopsAt& observer) {
      Options options;
      options.observer = &observer;
      return symmetric ? KernelOperator(view(x), 0.1, options) : KernelOperator(view(x), view(z), 0.1, options);
    };
    StopsAt never(std::numeric_limits<std::size_t>::max());
    load(never);
    EXPECT_GT(never.asked, 12 * pieces);  // more often than there are readings
    for (std::size_t at = 1; at <= never.asked; at = at < never.asked ? std::min(never.asked, 2 * at) : at + 1) {
      StopsAt observer(at);
      try {
        load(observer);
        FAIL() << "ran on at question " << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Failure::interrupted);
      }
      EXPECT_EQ(observer.asked, at);
    }
  }
}

}  // namespace
}  // namespace fd::test
