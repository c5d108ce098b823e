// Eigenvalues next to 1, and which of them are those of groups.
#include <gtest/gtest.h>

#include <limits>

#include "analysis/components.hpp"

namespace fd::test {
namespace {

TEST(Components, NextToOneIsWithinATenThousandth) {
  EXPECT_EQ(next_to_one({}), 0u);
  EXPECT_EQ(next_to_one({0.9}), 0u);
  EXPECT_EQ(next_to_one({0.99995, 0.9}), 1u);
  EXPECT_EQ(next_to_one({0.99995, 0.99991, 0.5}), 2u);
}

TEST(Components, NextToOneIsAHundredTimesCloserThanTheNext) {
  EXPECT_EQ(next_to_one({0.995, 0.4}), 1u);
  EXPECT_EQ(next_to_one({0.995, 0.6}), 0u);
  EXPECT_EQ(next_to_one({0.989, 0.0}), 0u) << "not within a percent of 1";
  EXPECT_EQ(next_to_one({0.9985, 0.998, 0.7}), 2u) << "together, far from the third";
}

TEST(Components, GroupsAreThoseOnManyRows) {
  EXPECT_EQ(far_groups_in({1, 1, 0.5}, {60, 1, 900}), 1u);
  EXPECT_EQ(far_groups_in({1, 1, 0.5}, {60, 8, 900}), 2u);
  EXPECT_EQ(far_groups_in({1, 1, 0.5}, {60}), 1u) << "nothing is known of the second mode";
}

TEST(Components, NoGroupsWhereTheBandwidthTakesAllApart) {
  EXPECT_EQ(far_groups_in({1, 1, 0.995}, {60, 60, 60}), 0u);
  EXPECT_EQ(far_groups_in({1, 1, 1}, {60, 60, 60}), 0u);
  EXPECT_EQ(far_groups_in({1, std::numeric_limits<double>::quiet_NaN()}, {60, 60}), 0u);
}

}  // namespace
}  // namespace fd::test
