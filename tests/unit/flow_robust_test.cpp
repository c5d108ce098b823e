// Localised modes as a further wall.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flow_synthetic.hpp"

namespace {

using fd::Probe;
using fd::Select;
using fd::Step;
using fd::synthetic::rules_for;
using fd::synthetic::Trail;
using fd::synthetic::World;

const double far_and_near[] = {1e-3, 0.03, 0.25, 0.5, 0.9, 1, 1.1, 2, 4, 30, 1e3};

TEST(FlowRobust, WithoutLocalisedModesItIsTheMinimum) {
  for (const double wall : {0.3, 1.3, 3.0, std::numeric_limits<double>::infinity()})
    for (const double start : far_and_near) {
      World world;
      world.wall = wall;
      const Trail robust = run(world, rules_for(Select::robust, start)), minimum = run(world, rules_for(Select::minimum, start));
      EXPECT_EQ(robust.step.beta, minimum.step.beta);
      EXPECT_EQ(robust.step.boundary, minimum.step.boundary);
      EXPECT_EQ(robust.history.size(), minimum.history.size());
      EXPECT_EQ(robust.step.unconstrained_minimiser, minimum.step.beta);
    }
}

TEST(FlowRobust, LocalisationPastTheMinimumChangesNothing) {
  for (const double from : {1.15, 1.5, 3.0})
    for (const double start : {0.25, 0.9, 1.0, 2.0, 4.0}) {
      World world;
      world.localised_from = from;
      const Trail r = run(world, rules_for(Select::robust, start));
      ASSERT_EQ(r.step.kind, Step::Kind::accept);
      EXPECT_EQ(r.step.boundary, "resolution") << from << " " << start;
      EXPECT_NEAR(r.step.beta, 1, 0.03) << from << " " << start;
    }
}

TEST(FlowRobust, TheWallBeforeTheMinimumDecides) {
  for (const double d : {1.0, 6.0, 20.0})
    for (const double from : {0.05, 0.2, 0.45, 0.8})
      for (const double wall : {1.2, std::numeric_limits<double>::infinity()})
        for (const double start : far_and_near) {
          World world;
          world.dimension = d, world.localised_from = from, world.wall = wall;
          const Trail r = run(world, rules_for(Select::robust, start));
          ASSERT_EQ(r.step.kind, Step::Kind::accept) << from << " " << start << " " << r.step.reason;
          EXPECT_EQ(r.step.boundary, "localised") << from << " " << start;
          EXPECT_LT(r.step.beta, from) << start;
          EXPECT_GT(r.step.beta, from / 1.2501) << start;  // V falls all the way to it
          EXPECT_LE(r.history.size(), 20u) << from << " " << start;
          if (std::isfinite(r.step.unconstrained_minimiser) && !std::isfinite(wall)) {
            EXPECT_NEAR(r.step.unconstrained_minimiser, 1, 0.25) << from << " " << start;
          }
        }
}

// More than one in ten; a single one is an outlier unless it is half of what was asked for.
TEST(FlowRobust, HowManyLocalisedModesMakeAWall) {
  const struct {
    std::size_t modes, localised;
    bool wall;
  } cases[] = {{1, 1, true},   {2, 1, true},   {3, 1, false}, {3, 2, true},   {9, 1, false}, {10, 1, false},   {10, 2, true},
               {19, 1, false}, {20, 2, false}, {20, 3, true}, {30, 3, false}, {30, 4, true}, {100, 10, false}, {100, 11, true}};
  for (const auto& c : cases) {
    World world;
    world.localised_from = 0.4, world.localised_count = c.localised;
    auto rules = rules_for(Select::robust, 0.3);
    rules.potential.modes = c.modes;
    const Trail r = run(world, rules);
    EXPECT_EQ(r.step.boundary, c.wall ? "localised" : "resolution") << c.localised << " of " << c.modes;
  }
}

// The inner modes of a small group come before those of the bulk where the kernel is broad, and after them where it is narrower.
TEST(FlowRobust, LocalisedModesThatANarrowerKernelOvertakesAreNoCeiling) {
  World world;
  world.localised_from = 0.02, world.localised_to = 0.6;
  for (const double start : {0.35, 0.4, 0.5}) {  // localised there and at the next two below
    const Trail r = run(world, rules_for(Select::robust, start));
    ASSERT_EQ(r.step.kind, Step::Kind::accept) << start;
    EXPECT_NEAR(r.step.beta, 1, 0.03) << start << " " << r.step.reason;
    EXPECT_LE(r.history.size(), 15u) << start;
  }
  const Trail r = run(world, rules_for(Select::robust, 0.4), {world.probe(0.01), world.probe(0.4), world.probe(1.6)});
  EXPECT_NEAR(r.step.beta, 1, 0.03) << "better above than below: " << r.step.reason;

  World shallow = world;  // V is higher above them than below: they are a ceiling
  shallow.factor = [](double beta) { return beta > 0.3 ? 1e4 : 1.0; };
  const Trail below =
      run(shallow, rules_for(Select::robust, 0.015), {shallow.probe(0.01), shallow.probe(0.4), shallow.probe(1.6)});
  EXPECT_LT(below.step.beta, 0.02) << below.step.reason;
}

TEST(FlowRobust, LocalisedEverywhereGivesUpAndSaysWhatToDo) {
  World world;
  world.localised_from = 0;
  const Trail r = run(world, rules_for(Select::robust, 1));
  EXPECT_EQ(r.step.kind, Step::Kind::give_up);
  EXPECT_NE(r.step.reason.find("leave the sparsest rows out"), std::string::npos);
  EXPECT_LE(r.history.size(), 10u);
}

TEST(FlowRobust, LocalisedModesCountOnlyHere) {
  std::vector<Probe> history;
  for (const double beta : {0.25, 0.5, 1.0, 2.0}) {
    history.push_back(World{}.probe(beta));
    if (beta > 0.7) history.back().localised = 5;
  }
  const Step minimum = decide(history, rules_for(Select::minimum, 0.25));
  EXPECT_GT(minimum.beta, 0.7);
  const Step robust = decide(history, rules_for(Select::robust, 0.25));
  EXPECT_LT(robust.beta, 1);
  EXPECT_NEAR(robust.unconstrained_minimiser, 1, 0.1);
}

TEST(FlowRobust, NoiseAndLocalisationTogether) {
  for (std::uint64_t seed = 0; seed < 32; ++seed)
    for (const double start : {0.01, 0.3, 3.0}) {
      World world;
      world.localised_from = 0.4, world.noise = 0.01, world.seed = seed, world.wall = 1.5;
      const Trail r = run(world, rules_for(Select::robust, start));
      ASSERT_EQ(r.step.kind, Step::Kind::accept);
      EXPECT_EQ(r.step.boundary, "localised");
      EXPECT_LT(r.step.beta, 0.4);
      EXPECT_GT(r.step.beta, 0.4 / 1.2501);
      EXPECT_LE(r.history.size(), 16u);
    }
}

}  // namespace
