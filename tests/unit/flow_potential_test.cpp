// The potential of one probe: every term against its formula, and what happens where a term has none.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flow/potential.hpp"

namespace {

using fd::Precision;
using fd::Probe;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Probe measured() {
  Probe p;
  p.n = 1000;
  p.precision = Precision::fp32;
  p.beta = 0.4;
  p.s_off = 8e4;
  p.s_off_2beta = 2e4;
  p.eigenvalues = {0.9, 0.8, 0.5, 0.4};
  return p;
}

TEST(FlowPotential, TermsFollowTheirFormulas) {
  Probe p = measured();
  fd::PotentialRules rules;
  rules.modes = 3;
  complete(p, rules);
  EXPECT_DOUBLE_EQ(p.n_eff, 8e4 * 8e4 / (1000 * 2e4));
  EXPECT_DOUBLE_EQ(p.d_hat, 4);  // the mass falls by 4 = 2^(d/2) over the octave
  EXPECT_DOUBLE_EQ(p.perron_gap, 1 - 0.9);
  EXPECT_DOUBLE_EQ(p.v_bias, -std::log(0.8));
  EXPECT_DOUBLE_EQ(p.v_stat, 1 / std::sqrt(320 * -std::log(0.8)));
  EXPECT_NEAR(p.v_mach, 1e-30, 1e-38);  // (10 * 1e-7 / 0.1)^6
  EXPECT_DOUBLE_EQ(p.v, p.v_bias + p.v_stat + p.v_mach);
  EXPECT_EQ(p.outcome, "resolved");
}

TEST(FlowPotential, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  Probe p = measured();
  fd::PotentialRules rules;
  rules.modes = 4;
  complete(p, rules);
  EXPECT_DOUBLE_EQ(p.v_bias, -0.5 * (std::log(0.8) + std::log(0.5)));
}

TEST(FlowPotential, RequestedModesOnly) {
  Probe p = measured();
  fd::PotentialRules rules;
  rules.modes = 1;
  complete(p, rules);
  EXPECT_DOUBLE_EQ(p.v_bias, -std::log(0.9));
}

TEST(FlowPotential, GapAndActionAreJudgedPastTheComponents) {
  Probe p = measured();
  p.eigenvalues = {1 - 1e-12, 0.9, 0.8, 0.7};
  fd::PotentialRules rules;
  rules.modes = 4;
  complete(p, rules);
  EXPECT_EQ(p.outcome, "wall");
  rules.components = 2;
  p.outcome.clear();
  complete(p, rules);
  EXPECT_DOUBLE_EQ(p.perron_gap, 1 - 0.9);
  EXPECT_DOUBLE_EQ(p.v_bias, -std::log(0.8));
  EXPECT_EQ(p.outcome, "resolved");
}

TEST(FlowPotential, TheWallIsWhereThePrecisionEnds) {
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16}) {
    const fd::PotentialRules rules;
    const double least = fd::wall_gap(precision, rules);
    EXPECT_DOUBLE_EQ(least, 10 * fd::traits(precision).eta);
    for (const double gap : {0.5 * least, 2 * least}) {
      Probe p = measured();
      p.precision = precision;
      p.eigenvalues = {1 - gap, 0.4, 0.3};
      complete(p, rules);
      EXPECT_EQ(p.outcome, gap <= least ? "wall" : "resolved") << fd::traits(precision).name;
    }
  }
}

TEST(FlowPotential, AWallOverridesAnUnfinishedSolve) {
  Probe p = measured();
  p.outcome = "not converged";
  p.eigenvalues = {1 - 1e-9};
  complete(p, {});
  EXPECT_EQ(p.outcome, "wall");
  p = measured();
  p.outcome = "not converged";
  complete(p, {});
  EXPECT_EQ(p.outcome, "not converged");
}

// Eigenvalues below eta are noise, whatever their sign: V does not depend on them, and the probe does not count as resolved.
TEST(FlowPotential, ASpectrumLostInRoundingIsFlat) {
  Probe p = measured();
  p.eigenvalues = {0.01, 0, -1e-9, -1e-8};
  fd::PotentialRules rules;
  rules.modes = 4;
  complete(p, rules);
  EXPECT_TRUE(std::isfinite(p.v));
  EXPECT_DOUBLE_EQ(p.v_bias, -std::log(fd::traits(p.precision).eta));
  EXPECT_EQ(p.outcome, "flat");
  Probe other = measured();
  other.eigenvalues = {0.01, 1e-12, 3e-9, 2e-8};
  complete(other, rules);
  EXPECT_EQ(other.v, p.v);
}

TEST(FlowPotential, NothingUnknowableLooksResolved) {
  std::vector<Probe> broken(7, measured());
  broken[0].s_off = nan;
  broken[1].s_off_2beta = nan;
  broken[2].eigenvalues = {nan, 0.5, 0.4};
  broken[3].eigenvalues.clear();
  broken[4].s_off = broken[4].s_off_2beta = 0;  // no neighbours at all
  broken[5].s_off_2beta = 0;                    // underflow
  broken[6].n = 0;
  for (Probe& p : broken) {
    complete(p, {});
    EXPECT_EQ(p.outcome, "failed") << &p - broken.data();
    EXPECT_FALSE(std::isfinite(p.v));
  }
}

}  // namespace
