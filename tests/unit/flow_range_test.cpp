// Where probes fail next to an end of the range, the search keeps inside it, and does not go back to a bandwidth that it has seen.
#include <gtest/gtest.h>

#include <cmath>

#include "unit/flow_synthetic.hpp"

namespace fd {
namespace {

class FlowRange : public ::testing::TestWithParam<Select> {};

TEST_P(FlowRange, FailuresAboveTheSmallestBandwidth) {
  for (double share = 1e-4; share < 0.5; share *= 1.7) {
    synthetic::World world;
    world.well = 10;
    world.fails = [&](double beta) { return beta > 1 + share; };
    FlowRules rules = synthetic::rules_for(GetParam(), 1);
    rules.beta_min = 1;
    const synthetic::Trail trail = synthetic::run(world, rules);
    EXPECT_NE(trail.step.kind, Step::Kind::probe) << share;
    EXPECT_GE(trail.step.beta, rules.beta_min * (1 - 1e-9)) << share;
    for (std::size_t i = 0; i < trail.history.size(); ++i) {
      EXPECT_GE(trail.history[i].beta, rules.beta_min * (1 - 1e-9)) << share;
      for (std::size_t j = 0; j < i; ++j) EXPECT_NE(trail.history[i].beta, trail.history[j].beta) << share;
    }
  }
}

TEST_P(FlowRange, FailuresBelowTheLargestBandwidth) {
  for (double share = 1e-4; share < 0.5; share *= 1.7) {
    synthetic::World world;
    world.well = 0.1;
    world.fails = [&](double beta) { return beta < 1 - share; };
    FlowRules rules = synthetic::rules_for(GetParam(), 1);
    rules.beta_max = 1;
    const synthetic::Trail trail = synthetic::run(world, rules);
    EXPECT_NE(trail.step.kind, Step::Kind::probe) << share;
    for (std::size_t i = 0; i < trail.history.size(); ++i) {
      EXPECT_LE(trail.history[i].beta, rules.beta_max * (1 + 1e-9)) << share;
      for (std::size_t j = 0; j < i; ++j) EXPECT_NE(trail.history[i].beta, trail.history[j].beta) << share;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Selectors, FlowRange, ::testing::Values(Select::minimum, Select::robust));

}  // namespace
}  // namespace fd
