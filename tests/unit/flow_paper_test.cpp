// The paper's dyadic selector and the plain continuation, on potentials given by formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flashdiffusion/error.hpp"
#include "flow_synthetic.hpp"

namespace {

using fd::Select;
using fd::Step;
using fd::synthetic::rules_for;
using fd::synthetic::Trail;
using fd::synthetic::World;

TEST(FlowPaper, DoublesUntilATripletBracketsThenProbesItsVertex) {
  World world;
  const Trail r = run(world, rules_for(Select::paper, 0.1));
  // V = a/beta + c beta^2 (d = 6) has its minimum at 1: 0.1, 0.2, ... 0.8, 1.6 brackets it, the vertex is the sixth probe.
  ASSERT_EQ(r.history.size(), 6u);
  for (int i = 0; i < 5; ++i) EXPECT_DOUBLE_EQ(r.history[i].beta, 0.1 * std::exp2(i));
  const double a = r.history[2].v, b = r.history[3].v, c = r.history[4].v;
  const double shift = std::log(2.0) * (a - c) / (2 * (a - 2 * b + c));
  EXPECT_NEAR(std::log(r.step.beta), std::log(0.8) + shift, 1e-12);
  EXPECT_EQ(r.step.kind, Step::Kind::accept);
  EXPECT_EQ(r.step.boundary, "resolution");
}

// The weakness that `minimum` is there to mend.
TEST(FlowPaper, TheVertexDependsOnThePhaseOfTheGrid) {
  World world;
  world.dimension = 12;
  double spread[2] = {};
  for (const Select select : {Select::paper, Select::minimum}) {
    double low = 1e9, high = 0;
    for (int phase = 0; phase < 8; ++phase) {
      const double beta = run(world, rules_for(select, 0.1 * std::exp2(phase / 8.0))).step.beta;
      low = std::min(low, beta), high = std::max(high, beta);
    }
    spread[select == Select::minimum] = high / low - 1;
  }
  EXPECT_GT(spread[0], 0.05);
  EXPECT_LT(spread[0], 1);
  EXPECT_LT(spread[1], 0.2 * spread[0]);
}

TEST(FlowPaper, LastSafeProbeIfTheWallComesFirst) {
  World world;
  world.wall = 0.5;
  const Trail r = run(world, rules_for(Select::paper, 0.1));
  EXPECT_EQ(r.step.kind, Step::Kind::accept);
  EXPECT_DOUBLE_EQ(r.step.beta, 0.4);
  EXPECT_EQ(r.step.boundary, "precision");
}

TEST(FlowPaper, WallAtTheFirstProbeGivesUp) {
  World world;
  world.wall = 0.05;
  const Trail r = run(world, rules_for(Select::paper, 0.1));
  EXPECT_EQ(r.step.kind, Step::Kind::give_up);
  EXPECT_NE(r.step.reason.find("`beta0`"), std::string::npos);
}

TEST(FlowPaper, FailedProbeIsNeverChosen) {
  World world;
  world.fails = [](double beta) { return beta > 0.7; };
  const Trail r = run(world, rules_for(Select::paper, 0.1));
  EXPECT_EQ(r.step.kind, Step::Kind::accept);
  EXPECT_DOUBLE_EQ(r.step.beta, 0.4);
}

TEST(FlowPaper, UnsafeVertexFallsBackToTheMiddleOfTheTriplet) {
  World world;
  world.fails = [](double beta) { return std::abs(std::log2(beta / 0.1) - std::round(std::log2(beta / 0.1))) > 1e-6; };
  const Trail r = run(world, rules_for(Select::paper, 0.1));
  EXPECT_DOUBLE_EQ(r.step.beta, 0.8);
}

TEST(FlowPaper, EndsAtBetaMaxOrTheBudget) {
  World world;
  auto rules = rules_for(Select::paper, 0.1);
  rules.beta_max = 0.5;
  EXPECT_DOUBLE_EQ(run(world, rules).step.beta, 0.4);
  EXPECT_EQ(run(world, rules).step.boundary, "edge");
  rules.beta_max = std::numeric_limits<double>::infinity();
  rules.most_probes = 2;
  EXPECT_EQ(run(world, rules).history.size(), 2u);
  EXPECT_EQ(run(world, rules).step.boundary, "edge");
}

// A stationary point where the heat action rises is not the bias-variance well.
TEST(FlowPaper, WellWithRisingBiasIsPassedOver) {
  std::vector<fd::Probe> history;
  for (int i = 0; i < 3; ++i) {
    fd::Probe p = World{}.probe(0.1 * std::exp2(i));
    p.v_bias = 1 + 0.1 * i;
    p.v_stat = i == 1 ? 0.1 : 0.5;
    p.v = p.v_bias + p.v_stat;
    history.push_back(p);
  }
  ASSERT_LE(history[1].v, history[0].v);
  ASSERT_LE(history[1].v, history[2].v);
  const Step step = decide(history, rules_for(Select::paper, 0.1));
  EXPECT_EQ(step.kind, Step::Kind::probe);
  EXPECT_DOUBLE_EQ(step.beta, 0.8);
}

TEST(FlowContinuation, SlowsTowardsTheWallAndStopsSafe) {
  World world;
  world.wall = 1;
  world.wall_slope = 6;  // gap = kappa eta beta^-6
  const Trail r = run(world, rules_for(Select::continuation, 0.1));
  ASSERT_EQ(r.step.kind, Step::Kind::accept);
  EXPECT_EQ(r.step.boundary, "precision");
  EXPECT_LT(r.step.beta, 1);
  EXPECT_GT(r.step.beta, std::pow(10, -1 / 6.0) / 1.05);
  for (std::size_t i = 1; i < r.history.size(); ++i) {
    const double distance = r.history[i - 1].perron_gap / fd::wall_gap(fd::Precision::fp32, {});
    EXPECT_NEAR(r.history[i].beta / r.history[i - 1].beta, distance > 100 ? 1.5 : distance > 10 ? 1.2 : 1.05, 1e-12);
  }
}

TEST(FlowContinuation, LaboriousProbeShortensTheStep) {
  std::vector<fd::Probe> history = {World{}.probe(0.1), World{}.probe(0.15)};
  history[1].passes = 25;
  EXPECT_NEAR(decide(history, rules_for(Select::continuation, 0.1)).beta, 0.15 * 1.2, 1e-12);
  history[1].passes = 20;
  EXPECT_NEAR(decide(history, rules_for(Select::continuation, 0.1)).beta, 0.15 * 1.5, 1e-12);
}

TEST(FlowContinuation, EndsAtTheWallAndAtBetaMax) {
  World world;
  world.wall = 0.5;
  Trail r = run(world, rules_for(Select::continuation, 0.1));
  EXPECT_EQ(r.step.kind, Step::Kind::accept);
  EXPECT_DOUBLE_EQ(r.step.beta, r.history[r.history.size() - 2].beta);
  auto rules = rules_for(Select::continuation, 0.1);
  rules.beta_max = 0.3;
  r = run(world, rules);
  EXPECT_DOUBLE_EQ(r.step.beta, 0.3);
  EXPECT_EQ(r.step.boundary, "edge");
  EXPECT_EQ(run(world, rules_for(Select::continuation, 0.7)).step.kind, Step::Kind::give_up);
}

TEST(FlowRules, NonsenseIsRefused) {
  for (const double start : {0.0, -1.0, std::nan("")}) EXPECT_THROW(decide({}, rules_for(Select::minimum, start)), fd::Error);
  auto rules = rules_for(Select::minimum, 1);
  rules.beta_max = 0.5;
  EXPECT_THROW(decide({}, rules), fd::Error);
}

}  // namespace
