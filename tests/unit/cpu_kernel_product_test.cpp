// The public kernel product: what it refuses, and points that are all equal.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/kernel_product.hpp>

#include "support/datasets.hpp"

namespace fd::test {
namespace {

constexpr std::size_t rows = 60, dimension = 3;

struct Tables {
  std::vector<double> x = gaussian(rows, dimension).x, z = gaussian(rows, dimension, 8).x, w = gaussian(rows, 2, 9).x;
  Options options;

  void both() const {
    const PointsView one(x.data(), rows, dimension), other(z.data(), rows, dimension), weights(w.data(), rows, 2);
    kernel_product(one, weights, 0.5, options);
    kernel_product(one, other, weights, 0.5, options);
  }
};

// The message of the error, and that it is one of the input.
std::string refusal(const Tables& tables) {
  try {
    tables.both();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input);
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "";
}

TEST(KernelProductInput, NotFiniteAndTooLargeValuesAreRefusedByRowAndColumn) {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp64})
    for (const double bad : {double{NAN}, double{INFINITY}, -double{INFINITY}, precision == Precision::fp64 ? 1e300 : 3e38}) {
      Tables tables;
      tables.options.precision = {precision};
      tables.both();
      for (const auto& [name, table] : {std::pair{"X", &Tables::x}, {"Z", &Tables::z}, {"W", &Tables::w}}) {
        Tables spoilt = tables;
        const std::size_t columns = table == &Tables::w ? 2 : dimension;
        (spoilt.*table)[7 * columns + 1] = bad;
        const std::string what = refusal(spoilt);
        EXPECT_NE(what.find(name), std::string::npos) << what;
        EXPECT_NE(what.find("row 8, column 2"), std::string::npos) << what;
      }
    }
}

TEST(KernelProductInput, PointsTooFarApartForTheBandwidthAreRefused) {
  Tables tables;
  tables.x[0] = 1e15;
  const PointsView x(tables.x.data(), rows, dimension), w(tables.w.data(), rows, 2);
  EXPECT_NO_THROW(kernel_product(x, w, 1e-3, tables.options));
  EXPECT_THROW(kernel_product(x, w, 1e20, tables.options), Error);
}

TEST(KernelProductInput, NullPointersAndShapesAreMisuse) {
  const Tables tables;
  const PointsView x(tables.x.data(), rows, dimension), w(tables.w.data(), rows, 2);
  const PointsView no_x(static_cast<const float*>(nullptr), rows, dimension), no_w(static_cast<const double*>(nullptr), rows, 2);
  const PointsView narrow(tables.x.data(), rows, 2), few(tables.w.data(), rows - 1, 2);
  const auto misuse = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind() == Failure::misuse;
    }
    return false;
  };
  EXPECT_TRUE(misuse([&] { kernel_product(no_x, w, 1); }));
  EXPECT_TRUE(misuse([&] { kernel_product(x, no_w, 1); }));
  EXPECT_TRUE(misuse([&] { kernel_product(x, no_x, w, 1); }));
  EXPECT_TRUE(misuse([&] { kernel_product(x, narrow, w, 1); }));
  EXPECT_TRUE(misuse([&] { kernel_product(x, few, 1); }));
  EXPECT_TRUE(misuse([&] { kernel_product(x, w, 0); }));
  EXPECT_TRUE(misuse([&] { kernel_product(x, w, std::nan("")); }));
  Options none;
  none.precision.clear();
  EXPECT_TRUE(misuse([&] { kernel_product(x, w, 1, none); }));
}

TEST(KernelProductInput, EqualPointsHaveAKernelToo) {
  const std::vector<double> x(40 * 2, 3.5), apart = {3.5, 4.5}, w(40, 0.25);
  const PointsView points(x.data(), 40, 2), weights(w.data(), 40, 1);
  const Table same = kernel_product(points, weights, 2.0), other = kernel_product({apart.data(), 1, 2}, points, weights, 2.0);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(same(i, 0), 10, 1e-5);
  EXPECT_NEAR(other(0, 0), 10 * std::exp(-2.0), 1e-5);  // a column that is constant in z alone
}

}  // namespace
}  // namespace fd::test
