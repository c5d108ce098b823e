// The minimiser of V: hundreds of potentials, from starts a factor 1000 either side, with walls wherever they hurt.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "flow_synthetic.hpp"

namespace {

using fd::Probe;
using fd::Select;
using fd::Step;
using fd::synthetic::rules_for;
using fd::synthetic::Trail;
using fd::synthetic::World;

constexpr double inf = std::numeric_limits<double>::infinity();

std::string name(const World& w, double start) {
  std::ostringstream text;
  text << "d " << w.dimension << ", wall " << w.wall << " (slope " << w.wall_slope << "), depth " << w.depth << ", start "
       << start << ", seed " << w.seed << (w.curved ? ", curved" : "");
  return text.str();
}

// The answer is admissible and V there is at most `factor` above its least; within the given number of probes.
void expect_minimum(const World& world, const Trail& r, double start, double factor, std::size_t most) {
  ASSERT_EQ(r.step.kind, Step::Kind::accept) << name(world, start) << ": " << r.step.reason;
  const Probe at = world.probe(r.step.beta, false);
  ASSERT_EQ(at.outcome, "resolved") << name(world, start);
  EXPECT_LE(at.v, factor * world.truth(0.02 * world.well, 30 * world.well).second)
      << name(world, start) << ", beta " << r.step.beta;
  EXPECT_LE(r.history.size(), most) << name(world, start);
}

// Octaves up to a factor 4, then factors of 4; five or six probes to close in. A wall that gives no warning has to be found by
// bisection, seven halvings from a factor 4 to 2 %, and V looked at once more just inside.
std::size_t allowance(double start, bool wall) {
  const double octaves = std::abs(std::log2(start));
  return static_cast<std::size_t>(5 + std::ceil(octaves / 2) + (octaves > 1.5 ? 1 : 0)) + (wall ? 8 : 0);
}

const double starts[] = {1e-3, 0.03, 0.25, 0.5, 0.9, 1, 1.1, 2, 4, 30, 1e3};

TEST(FlowMinimum, AnyDimensionAnyStart) {
  for (const bool curved : {false, true})
    for (const double d : {1.0, 2.0, 3.0, 6.0, 10.0, 20.0})
      for (const double depth : {0.1, 0.5, 2.0})
        for (const double start : starts) {
          World world;
          world.dimension = d, world.depth = depth, world.curved = curved;
          if (curved && world.truth(0.02, 30).first > 20) continue;  // the saturation took the well away
          const Trail r = run(world, rules_for(Select::minimum, start));
          expect_minimum(world, r, start, 1.02, allowance(start, false) + (curved ? 3 : 0));
          EXPECT_EQ(r.step.boundary, "resolution") << name(world, start);
        }
}

TEST(FlowMinimum, AFactorFourAwayTakesAtMostNineProbes) {
  for (const double d : {1.0, 3.0, 6.0, 12.0, 20.0})
    for (const double start : {0.25, 0.35, 0.7, 1.4, 2.8, 4.0})
      for (const double wall : {inf, 2.0, 3.0, 4.5}) {
        World world;
        world.dimension = d, world.wall = wall;
        expect_minimum(world, run(world, rules_for(Select::minimum, start)), start, 1.02, 9);
      }
}

TEST(FlowMinimum, ACarriedStartTakesAtMostFive) {
  for (const double d : {1.0, 3.0, 6.0, 12.0, 20.0})
    for (const double start : {0.9, 0.95, 1.0, 1.05, 1.1}) {
      World world;
      world.dimension = d;
      auto rules = rules_for(Select::minimum, start);
      rules.first_ratio = 1.25;
      const Trail r = run(world, rules);
      expect_minimum(world, r, start, 1.01, 5);
      EXPECT_NEAR(r.step.beta, 1, 0.02);
    }
}

TEST(FlowMinimum, WallsBeforeInsideAndAfterTheWell) {
  for (const double slope : {0.0, 1.0, 3.0, 14.0})
    for (const double wall : {0.3, 0.9, 1.05, 1.3, 2.0, 4.5})
      for (const double d : {1.0, 6.0, 20.0})
        for (const double depth : {0.1, 2.0})
          for (const double start : starts) {
            World world;
            world.wall = wall, world.wall_slope = slope, world.dimension = d, world.depth = depth;
            const Trail r = run(world, rules_for(Select::minimum, start));
            expect_minimum(world, r, start, 1.02, allowance(start, true));
            if (wall < 0.5) {
              EXPECT_EQ(r.step.boundary, "precision") << name(world, start);
            }
            if (wall > 3 && slope != 1) {
              EXPECT_EQ(r.step.boundary, "resolution") << name(world, start);
            }
          }
}

// One per cent of noise on each term, sixteen draws: V to 5 %, and in a well of ordinary sharpness beta to a few per cent.
TEST(FlowMinimum, NoiseOfOnePerCent) {
  for (const double wall : {inf, 1.05, 3.0})
    for (const double d : {1.0, 6.0, 20.0})
      for (const double start : {0.01, 0.25, 1.0, 4.0, 100.0}) {
        double sum = 0, squares = 0;
        for (std::uint64_t seed = 0; seed < 16; ++seed) {
          World world;
          world.wall = wall, world.wall_slope = 3, world.dimension = d, world.noise = 0.01, world.seed = seed;
          const Trail r = run(world, rules_for(Select::minimum, start));
          expect_minimum(world, r, start, 1.05, allowance(start, true) + 2);
          sum += std::log(r.step.beta) / 16, squares += std::pow(std::log(r.step.beta), 2) / 16;
        }
        // A vertex of three points 0.22 apart, V = 1 + p x^2 / 2: noise e moves it by about e / (sqrt 2 p 0.22); p = 0.5 + d/4.
        const double expected = 0.01 / (std::sqrt(2.0) * (0.5 + d / 4) * 0.22);
        EXPECT_LT(std::sqrt(std::max(0.0, squares - sum * sum)), 2 * expected + 0.005)
            << "d " << d << ", start " << start << ", wall " << wall;
      }
}

TEST(FlowMinimum, TheAnswerDoesNotDependOnTheStart) {
  World world;
  world.curved = true;
  double low = inf, high = 0;
  for (int i = 0; i < 48; ++i) {
    const double beta = run(world, rules_for(Select::minimum, 0.1 * std::exp2(i / 8.0))).step.beta;
    low = std::min(low, beta), high = std::max(high, beta);
  }
  EXPECT_LT(high / low, 1.03);
}

TEST(FlowMinimum, FailedProbesAreSteppedAround) {
  for (const double start : starts) {
    // A narrow gap right at the minimum, one on the way, and probes that fail one after another.
    World world;
    world.fails = [](double beta) { return std::abs(std::log(beta)) < 0.03 || std::abs(std::log(beta / 0.12)) < 0.05; };
    const Trail r = run(world, rules_for(Select::minimum, start));
    ASSERT_EQ(r.step.kind, Step::Kind::accept) << start;
    EXPECT_FALSE(world.fails(r.step.beta)) << start;
    EXPECT_LE(world.probe(r.step.beta).v, 1.02 * world.truth(0.1, 10).second) << start;
    EXPECT_LE(r.history.size(), allowance(start, true) + 3) << start;
  }
}

TEST(FlowMinimum, EverythingAboveFailsActsAsAWall) {
  World world;
  world.fails = [](double beta) { return beta > 0.5; };
  for (const double start : {0.05, 0.4, 1.0, 10.0}) {
    const Trail r = run(world, rules_for(Select::minimum, start));
    ASSERT_EQ(r.step.kind, Step::Kind::accept) << start;
    EXPECT_EQ(r.step.boundary, "edge") << start;
    EXPECT_NEAR(r.step.beta, 0.5, 0.02) << start;
  }
}

TEST(FlowMinimum, NothingAdmissibleGivesUpWithAReason) {
  World walled;
  walled.wall = 1e-9;
  Trail r = run(walled, rules_for(Select::minimum, 1));
  EXPECT_EQ(r.step.kind, Step::Kind::give_up);
  EXPECT_NE(r.step.reason.find("`components`"), std::string::npos);
  EXPECT_LE(r.history.size(), 12u);
  World broken;
  broken.fails = [](double) { return true; };
  r = run(broken, rules_for(Select::minimum, 1));
  EXPECT_EQ(r.step.kind, Step::Kind::give_up);
  EXPECT_GT(r.step.beta, 0);
  EXPECT_LE(r.history.size(), 10u);
}

// V = beta^-0.3 or beta^0.3 alone: no minimum; the reason names the side.
TEST(FlowMinimum, MonotoneEitherWay) {
  for (const int sign : {-1, 1}) {
    World world;
    world.gap = 1e4;  // no wall within reach
    world.factor = [&](double x) { return std::pow(x, 0.3 * sign) / (1 / x + 0.5 * x * x); };
    Trail r = run(world, rules_for(Select::minimum, 1));
    EXPECT_EQ(r.step.kind, Step::Kind::accept);
    EXPECT_EQ(r.step.boundary, "edge");
    EXPECT_LE(r.history.size(), 16u);
    EXPECT_NE(r.step.reason.find(sign < 0 ? "largest" : "smallest"), std::string::npos) << r.step.reason;

    auto rules = rules_for(Select::minimum, 1);
    rules.beta_min = 0.2, rules.beta_max = 5;
    r = run(world, rules);
    EXPECT_NEAR(r.step.beta, sign < 0 ? 5 : 0.2, 1e-9);
    EXPECT_EQ(r.step.boundary, "edge");
    for (const Probe& p : r.history) EXPECT_TRUE(p.beta >= 0.2 * (1 - 1e-12) && p.beta <= 5 * (1 + 1e-12));
  }
}

TEST(FlowMinimum, WellAtTheFirstOrTheLastProbe) {
  World world;
  auto rules = rules_for(Select::minimum, 1);
  expect_minimum(world, run(world, rules), 1, 1.001, 6);
  rules.beta_start = 0.5;
  rules.beta_max = 1;  // the minimum lies exactly on the limit
  const Trail r = run(world, rules);
  EXPECT_EQ(r.step.kind, Step::Kind::accept);
  EXPECT_LE(r.step.beta, 1 + 1e-12);
  EXPECT_LE(world.probe(r.step.beta).v, 1.01 * world.probe(1).v);
}

// What is accepted lies between probes no farther than 1.31 to either side: a parabola through farther ones tells less than it seems to. The range
// that may be searched may end close by.
TEST(FlowMinimum, TheBracketIsTight) {
  for (const double d : {1.0, 2.0, 6.0})
    for (const bool curved : {false, true})
      for (const double limit : {1.2, 1.5, 1e6})
        for (const double start : {0.03, 0.25, 0.5, 0.9}) {
          World world;
          world.dimension = d, world.curved = curved;
          const double well = world.truth(0.02, 30).first;
          auto rules = rules_for(Select::minimum, start * well);
          rules.beta_max = limit * well;
          const Trail r = run(world, rules);
          SCOPED_TRACE(testing::Message() << "d " << d << ", limit " << limit << ", start " << start << ", curved " << curved);
          ASSERT_EQ(r.step.kind, Step::Kind::accept);
          EXPECT_EQ(r.step.boundary, "resolution") << r.step.reason;
          EXPECT_LE(world.probe(r.step.beta, false).v, 1.002 * world.truth(0.02, limit * well).second);
          const Probe* best = nullptr;
          for (const Probe& p : r.history)
            if (best == nullptr || p.v < best->v) best = &p;
          double below = 0, above = std::numeric_limits<double>::infinity();
          for (const Probe& p : r.history) {
            if (p.beta < best->beta) below = std::max(below, p.beta);
            if (p.beta > best->beta) above = std::min(above, p.beta);
          }
          EXPECT_LE(best->beta / below, 1.311);
          EXPECT_LE(above / best->beta, 1.311);
        }
}

// Ripples on the well and a second, shallower well: the answer is a true local minimum and the best of what was seen.
TEST(FlowMinimum, SeveralWells) {
  for (const double start : starts) {
    World rippled;
    rippled.factor = [](double x) { return 1 + 0.015 * std::sin(9 * std::log(x)); };
    const Trail small = run(rippled, rules_for(Select::minimum, start));
    expect_minimum(rippled, small, start, 1.05, allowance(start, true));

    World two;
    two.factor = [](double x) { return 1 - 0.8 * std::exp(-2 * std::pow(std::log(x / 8), 2)); };
    const Trail r = run(two, rules_for(Select::minimum, start));
    ASSERT_EQ(r.step.kind, Step::Kind::accept);
    const double v = two.probe(r.step.beta).v;
    for (const Probe& p : r.history) EXPECT_LE(v, 1.02 * p.v) << start;
    EXPECT_LE(v, 1.02 * two.truth(r.step.beta / 1.5, r.step.beta * 1.5).second) << start;
  }
}

TEST(FlowMinimum, BudgetIsKept) {
  World world;
  for (std::size_t most = 1; most < 12; ++most) {
    auto rules = rules_for(Select::minimum, 0.01);
    rules.most_probes = most;
    const Trail r = run(world, rules);
    EXPECT_LE(r.history.size(), most);
    EXPECT_EQ(r.step.kind, Step::Kind::accept);
    double least = inf;
    for (const Probe& p : r.history) least = std::min(least, p.v);
    EXPECT_LE(world.probe(r.step.beta).v, least * 1.0001);
  }
}

TEST(FlowMinimum, ResumedIsUninterrupted) {
  for (const Select select : {Select::minimum, Select::robust, Select::paper, Select::continuation})
    for (const double start : {0.01, 1.0, 50.0}) {
      World world;
      world.wall = 3, world.noise = 0.01;
      const auto rules = rules_for(select, start);
      const Trail whole = run(world, rules);
      for (std::size_t cut = 0; cut < whole.history.size(); ++cut) {
        const std::vector<Probe> loaded(whole.history.begin(), whole.history.begin() + static_cast<std::ptrdiff_t>(cut));
        const Step step = decide(loaded, rules);
        EXPECT_EQ(step.kind, Step::Kind::probe);
        EXPECT_EQ(step.beta, whole.history[cut].beta);
      }
      EXPECT_EQ(decide(whole.history, rules).beta, whole.step.beta);
    }
}

// Units of length do not matter.
TEST(FlowMinimum, ScalingBetaChangesNothingElse) {
  for (const Select select : {Select::minimum, Select::robust, Select::paper, Select::continuation})
    for (const double scale : {1e-6, 1e6})
      for (const double start : {0.02, 1.3, 40.0}) {
        World here, there;
        here.wall = 2.2, there.wall = 2.2 * scale, there.well = scale;
        const Trail a = run(here, rules_for(select, start)), b = run(there, rules_for(select, start * scale));
        ASSERT_EQ(a.history.size(), b.history.size());
        for (std::size_t i = 0; i < a.history.size(); ++i) EXPECT_NEAR(b.history[i].beta / scale / a.history[i].beta, 1, 1e-6);
        EXPECT_EQ(a.step.boundary, b.step.boundary);
        EXPECT_NEAR(b.step.beta / scale / a.step.beta, 1, 1e-6);
      }
}

// The caller solves tightly where it was told to and adds the probe: the answer stands.
TEST(FlowMinimum, TheFinalProbeConfirmsTheAnswer) {
  for (const bool curved : {false, true})
    for (const double d : {1.0, 6.0, 20.0})
      for (const double start : starts) {
        World world;
        world.dimension = d, world.curved = curved, world.depth = 0.5;
        const auto rules = rules_for(Select::minimum, start);
        Trail r = run(world, rules);
        r.history.push_back(world.probe(r.step.beta));
        const Step again = decide(r.history, rules);
        EXPECT_EQ(again.kind, Step::Kind::accept) << name(world, start);
        EXPECT_DOUBLE_EQ(again.beta, r.step.beta) << name(world, start);
      }
}

}  // namespace
