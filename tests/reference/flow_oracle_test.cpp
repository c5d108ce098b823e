// The flow against dense fp64: every column of a probe, and where the selectors land.
#include <gtest/gtest.h>

#include <cmath>

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/dense_diffusion.hpp"

namespace fd::test {
namespace {

struct DenseProbe {
  double s_off, s_off_2beta, n_eff, d_hat, gap, v_bias, v_stat, v_mach, v;
};

// The paper's formulas, once more.
DenseProbe dense_probe(const Dataset& data, double beta, std::size_t modes) {
  const DenseDiffusion dense = dense_diffusion(data, beta, 0.5, false);
  const double n = static_cast<double>(data.rows);
  DenseProbe p{};
  p.s_off = dense.kernel.sum() - n;
  p.s_off_2beta = dense.kernel.squaredNorm() - n;
  p.n_eff = p.s_off * p.s_off / (n * p.s_off_2beta);
  p.d_hat = -2 * std::log(p.s_off_2beta / p.s_off) / std::log(2.0);
  p.gap = 1 - dense.values(0);
  std::vector<double> actions;
  for (std::size_t j = 0; j < modes; ++j) actions.push_back(-std::log(dense.values(static_cast<Eigen::Index>(j))));
  std::sort(actions.begin(), actions.end());
  p.v_bias = modes % 2 == 1 ? actions[modes / 2] : 0.5 * (actions[modes / 2 - 1] + actions[modes / 2]);
  p.v_stat = 1 / std::sqrt(p.n_eff * p.v_bias);
  p.v_mach = std::pow(10 * 1e-7 / p.gap, 6);
  p.v = p.v_bias + p.v_stat + p.v_mach;
  return p;
}

Model fitted(const Dataset& data, Options options) {
  options.modes = options.modes == 16 ? 3 : options.modes;
  return fit(PointsView(data.x.data(), data.rows, data.dimension), options);
}

TEST(FlowOracle, EveryColumnOfTheSweep) {
  const Dataset data = torus(700);
  for (int step = 0; step < 20; ++step) {
    const double beta = 0.05 * std::pow(1.18, step);
    Options options;
    options.beta = beta;
    options.tolerance = 3e-6;
    const Model model = fitted(data, options);
    const Probe& got = model.sweep.back();
    const DenseProbe want = dense_probe(data, beta, 3);
    const auto near = [&](double a, double b, const char* what) {
      EXPECT_NEAR(a, b, 1e-5 * std::abs(b)) << what << " at beta " << beta;
    };
    near(got.s_off, want.s_off, "s_off");
    near(got.s_off_2beta, want.s_off_2beta, "s_off_2beta");
    near(got.n_eff, want.n_eff, "n_eff");
    near(got.d_hat, want.d_hat, "d_hat");
    near(got.perron_gap, want.gap, "gap");
    near(got.v_bias, want.v_bias, "v_bias");
    near(got.v_stat, want.v_stat, "v_stat");
    EXPECT_NEAR(got.v_mach, want.v_mach, 6 * 1e-5 * want.v_mach) << "v_mach: a sixth power";
    near(got.v, want.v, "v");
  }
}

// The dense minimum over a fine grid around the answer.
double dense_minimum(const Dataset& data, double around, std::size_t modes) {
  double least = 1e300;
  for (int step = -8; step <= 8; ++step) least = std::min(least, dense_probe(data, around * std::pow(1.12, step), modes).v);
  return least;
}

TEST(FlowOracle, MinimumLandsInTheMinimum) {
  Dataset heavy = gaussian(500, 4);  // heavy tails
  for (std::size_t i = 0; i < 500; ++i) {
    const double stretch = std::exp(0.3 * Random(8, 8).normal(i));
    for (std::size_t c = 0; c < 4; ++c) heavy.x[i * 4 + c] *= stretch;
  }
  Dataset clusters = gaussian(500, 3);
  for (std::size_t i = 0; i < 500; ++i) clusters.x[i * 3] += 1.5 * static_cast<double>(i % 3);
  for (const Dataset& data : {torus(600), swiss_roll(600), heavy, clusters, gaussian(400, 500)}) {
    Options options;
    options.select = Select::minimum;
    const Model model = fitted(data, options);
    const double v = dense_probe(data, model.beta, 3).v, least = dense_minimum(data, model.beta, 3);
    EXPECT_LE(v, 1.02 * least) << "dimension " << data.dimension << ", beta " << model.beta << ": " << model.outcome;
  }
}

TEST(FlowOracle, TheAnswerDoesNotDependOnTheStart) {
  const Dataset data = torus(1024);
  double low = 1e300, high = 0;
  for (const double beta0 : {0.01, 0.05, 0.3, 1.0, 3.0}) {
    Options options;
    options.select = Select::minimum;
    options.beta0 = beta0;
    const double beta = fitted(data, options).beta;
    low = std::min(low, beta);
    high = std::max(high, beta);
  }
  EXPECT_LE(high / low, 1.03);
}

TEST(FlowOracle, RobustIsMinimumOnTheTorusAndKeepsClearOfLocalisedModesElsewhere) {
  Options minimum;
  minimum.select = Select::minimum;
  const Dataset even = torus(1024);
  EXPECT_EQ(fitted(even, {}).beta, fitted(even, minimum).beta);

  // angles on T^2 in 4 of 50 columns, noise in all 50 whose scale differs from row to row
  const std::size_t n = 2000;
  Dataset noisy{n, 50, std::vector<double>(n * 50)};
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = 0.15 * std::exp(0.5 * Random(4, 0).normal(i));
    for (std::size_t c = 0; c < 50; ++c) noisy.x[i * 50 + c] = scale * Random(4, 1 + c).normal(i);
    for (std::size_t circle = 0; circle < 2; ++circle) {
      const double angle = 2 * std::numbers::pi * Random(4, 100 + circle).uniform(i);
      noisy.x[i * 50 + 2 * circle] += (circle == 0 ? 1 : 1.5) * std::cos(angle);
      noisy.x[i * 50 + 2 * circle + 1] += (circle == 0 ? 1 : 1.5) * std::sin(angle);
    }
  }
  Options ten;
  ten.modes = 10;
  const Model clear = fitted(noisy, ten);
  EXPECT_LE(clear.sweep.back().localised, 1u) << clear.outcome;
  ten.select = Select::minimum;
  const Model caught = fitted(noisy, ten);
  EXPECT_GT(caught.sweep.back().localised, 4u);
  EXPECT_NE(caught.outcome.find("modes live on fewer than"), std::string::npos) << caught.outcome;
}

}  // namespace
}  // namespace fd::test
