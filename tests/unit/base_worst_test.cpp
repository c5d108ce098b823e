// The larger of two errors, where NaN is the largest of all.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/worst.hpp"

namespace fd {
namespace {

TEST(Worst, IsTheLargerAndNeverLosesANaN) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(worse(1, 2), 2);
  EXPECT_EQ(worse(2, 1), 2);
  EXPECT_EQ(worse(0, 0), 0);
  EXPECT_EQ(worse(infinity, 1), infinity);
  for (const double other : {0.0, 1.0, infinity, nan}) {
    EXPECT_TRUE(std::isnan(worse(nan, other))) << other;
    EXPECT_TRUE(std::isnan(worse(other, nan))) << other;
  }
}

TEST(Root, OfWhatRoundingLeftBelowZeroIsZero) {
  EXPECT_EQ(root(4), 2);
  EXPECT_EQ(root(-1e-18), 0);
  EXPECT_TRUE(std::isnan(root(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace fd
