// What a fit is expected to take, beside what it took: counts, never seconds.
#include <gtest/gtest.h>

#include <flashdiffusion/flashdiffusion.hpp>

#include "fit/forecast.hpp"
#include "support/datasets.hpp"

namespace fd::test {
namespace {

struct Wish {
  std::size_t modes;
  bool given;
};

class Expected : public ::testing::TestWithParam<Wish> {};

TEST_P(Expected, PassesAreRightToAFactorOfTwo) {
  const Dataset data = torus(4096, 12);
  Options options;
  options.modes = GetParam().modes;
  if (GetParam().given) options.beta = 0.5;
  const PointsView view(data.x.data(), data.rows, data.dimension);
  ViewSource source(view);
  const Forecast expected = estimate(source, options);
  const Model model = fit(view, options);
  const auto close = [](std::size_t a, std::size_t b) { return a <= 2 * b && b <= 2 * a; };
  EXPECT_TRUE(close(expected.passes, model.passes)) << expected.passes << " expected, " << model.passes << " taken";
  EXPECT_TRUE(close(expected.full_passes, model.full_passes)) << expected.full_passes << ", " << model.full_passes;
  EXPECT_TRUE(close(expected.columns, model.columns)) << expected.columns << ", " << model.columns;
  EXPECT_GT(expected.seconds, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, Expected, ::testing::Values(Wish{3, false}, Wish{16, false}, Wish{3, true}, Wish{16, true}),
                         [](const auto& info) {
                           return std::to_string(info.param.modes) + (info.param.given ? "AtABandwidth" : "BySearch");
                         });

TEST(FitForecast, WhatIsLeftFallsFromStageToStage) {
  Options options;
  options.modes = 3;
  const FitForecast forecast(1 << 17, 12, options, PassCosts{{1e-9, 1e-10}, {1e-9, 1e-10}});
  const auto rungs = fit_rungs(1 << 17, options);
  ASSERT_GE(rungs.size(), 3u);
  double before = forecast.total().seconds;
  for (const Rung& rung : rungs) {
    if (rung.n > rungs.front().n) {
      const double left = forecast.seconds_after("extend", rung.n, 0) + forecast.stage_seconds("extend", rung.n);
      EXPECT_LE(left, before * (1 + 1e-12));
      before = left;
    }
    for (std::size_t probes = 1; probes <= 3; ++probes) {
      const double left = forecast.seconds_after("probe", rung.n, probes);
      EXPECT_LE(left, before * (1 + 1e-12));
      before = left;
    }
    EXPECT_LE(forecast.seconds_after("solve", rung.n, 3), before);
    before = forecast.seconds_after("solve", rung.n, 3);
  }
  EXPECT_EQ(before, 0);
}

// What a fit needs does not follow what it is allowed, for the basis decides the bits: a budget is kept to or refused.
TEST(FitForecast, MemoryGrowsWithTheRowsAndNotWithTheBudget) {
  Options options;
  const double one = fit_memory_bytes(1'000'000, 32, options), two = fit_memory_bytes(2'000'000, 32, options);
  EXPECT_NEAR(two / one, 2, 0.1);
  options.modes = 256;
  options.memory_bytes = std::size_t{4} << 30;
  Options lavish = options;
  lavish.memory_bytes = std::size_t{64} << 30;
  EXPECT_EQ(fit_memory_bytes(1'000'000, 32, options), fit_memory_bytes(1'000'000, 32, lavish));
  Options lean = options;
  lean.basis = 500;
  EXPECT_LT(fit_memory_bytes(1'000'000, 32, lean), fit_memory_bytes(1'000'000, 32, options));
}

TEST(Estimate, OfPointsThatDoNotExist) {
  Options options;
  options.modes = 8;
  const Forecast small = estimate(20'000, 16, options), large = estimate(200'000, 16, options);
  EXPECT_GT(small.seconds, 0);
  EXPECT_GT(large.memory_bytes, 2 * small.memory_bytes);  // less than ten times: a small fit affords a larger basis
  EXPECT_LE(large.full_passes, small.full_passes);        // more rungs below, so less to do at the top
  options.modes = 20'000;
  EXPECT_THROW(estimate(20'000, 16, options), Error);
}

}  // namespace
}  // namespace fd::test
