// What probes are worth to the search: walls are ceilings for whatever lies above them.
#include <gtest/gtest.h>

#include <cmath>

#include "flow/landscape.hpp"
#include "unit/flow_synthetic.hpp"

namespace fd {
namespace {

// Better probes above a wall count for nothing: the rows have fallen apart there.
TEST(FlowLandscape, NothingAboveAWallIsGood) {
  const synthetic::World world;
  std::vector<Probe> history;
  for (const double beta : {0.1, 0.2, 0.4, 0.8}) history.push_back(world.probe(beta));
  history[2].perron_gap = 0, history[2].outcome = "wall";
  const FlowRules rules = synthetic::rules_for(Select::robust, 0.1);
  for (const bool heed_localised : {false, true}) {
    const flow::Landscape land = flow::survey(history, rules, heed_localised);
    ASSERT_NE(land.best(), nullptr);
    EXPECT_EQ(land.best()->probe->beta, 0.2);
    EXPECT_EQ(land.good_near(std::log(0.8), 0.1), nullptr);
    EXPECT_EQ(land.marks.back().probe->beta, 0.4);
  }
}

// Nor for whether localised modes end the range: only something better below the wall would tell that they do not.
TEST(FlowLandscape, WhatLiesAboveAWallDoesNotExcuseLocalisedModesBelowIt) {
  const synthetic::World world;
  std::vector<Probe> history;
  for (const double beta : {0.1, 0.2, 0.25, 0.3, 0.4, 0.8}) history.push_back(world.probe(beta));
  history[2].localised = 5;
  history[3].v = 2 * history[1].v;
  history[4].perron_gap = 0, history[4].outcome = "wall";
  const flow::Landscape land = flow::survey(history, synthetic::rules_for(Select::robust, 0.1), true);
  ASSERT_EQ(land.marks.size(), 3u);
  EXPECT_EQ(land.best()->probe->beta, 0.2);
  EXPECT_EQ(land.marks.back().ground, flow::Ground::localised);
}

}  // namespace
}  // namespace fd
