// Rungs, nested samples, and how a bandwidth is carried from one rung to the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "flashdiffusion/error.hpp"
#include "flow/ladder.hpp"

namespace {

using fd::Precision;

std::vector<std::size_t> sizes(const std::vector<fd::Rung>& rungs) {
  std::vector<std::size_t> result;
  for (const fd::Rung& rung : rungs) result.push_back(rung.n);
  return result;
}

TEST(FlowLadder, SizesAscendAndEndInN) {
  const std::vector<Precision> one = {Precision::fp32};
  EXPECT_EQ(sizes(fd::rungs(131072, 2048, 4, one)), (std::vector<std::size_t>{2048, 8192, 32768, 131072}));
  EXPECT_EQ(sizes(fd::rungs(20000, 2048, 4, one)), (std::vector<std::size_t>{5000, 20000}));
  EXPECT_EQ(sizes(fd::rungs(16000, 2048, 4, one)), (std::vector<std::size_t>{4000, 16000}));
  EXPECT_EQ(sizes(fd::rungs(4095, 2048, 4, one)), (std::vector<std::size_t>{4095}));
  EXPECT_EQ(sizes(fd::rungs(100, 2048, 4, one)), (std::vector<std::size_t>{100}));
  EXPECT_EQ(sizes(fd::rungs(3000, 1000, 1.5, one)), (std::vector<std::size_t>{1333, 2000, 3000}));
  for (std::size_t n = 1; n < 5000; n = n * 5 / 4 + 1) {
    const auto all = sizes(fd::rungs(n, 16, 3.3, one));
    EXPECT_EQ(all.back(), n);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
  }
}

TEST(FlowLadder, ACascadeHandsOverOnTheLargestSmallRung) {
  const auto r = fd::rungs(32768, 2048, 4, {Precision::bf16, Precision::tf32, Precision::fp32});
  EXPECT_EQ(sizes(r), (std::vector<std::size_t>{2048, 8192, 8192, 8192, 32768}));
  EXPECT_EQ(r[0].precision, Precision::bf16);
  EXPECT_EQ(r[1].precision, Precision::bf16);
  EXPECT_EQ(r[2].precision, Precision::tf32);
  EXPECT_EQ(r[3].precision, Precision::fp32);
  EXPECT_EQ(r[4].precision, Precision::fp32);
  EXPECT_EQ(sizes(fd::rungs(500, 2048, 4, {Precision::bf16, Precision::fp32})), (std::vector<std::size_t>{500, 500}));
}

TEST(FlowLadder, NonsenseIsRefused) {
  EXPECT_THROW(fd::rungs(10, 2, 1, {Precision::fp32}), fd::Error);
  EXPECT_THROW(fd::rungs(10, 2, 4, {}), fd::Error);
  EXPECT_THROW(fd::nested_sample(3, 4, 1), fd::Error);
  EXPECT_THROW(fd::carried_beta({}, 10, 6), fd::Error);
}

TEST(FlowLadder, SamplesAreNestedSortedAndSeeded) {
  std::vector<std::size_t> previous;
  for (const std::size_t n : {0u, 1u, 10u, 100u, 999u, 1000u}) {
    const auto sample = fd::nested_sample(1000, n, 42);
    ASSERT_EQ(sample.size(), n);
    EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
    EXPECT_TRUE(std::adjacent_find(sample.begin(), sample.end()) == sample.end());
    EXPECT_TRUE(std::includes(sample.begin(), sample.end(), previous.begin(), previous.end()));
    if (n) {
      EXPECT_LT(sample.back(), 1000u);
    }
    previous = sample;
  }
  EXPECT_EQ(fd::nested_sample(1000, 100, 42), fd::nested_sample(1000, 100, 42));
  EXPECT_NE(fd::nested_sample(1000, 100, 42), fd::nested_sample(1000, 100, 43));
}

// Every row is as likely as any other: counts over 400 seeds are binomial(400, 1/4), 100 +- 8.7; six deviations over 64 rows.
TEST(FlowLadder, SamplesAreFair) {
  std::vector<int> count(64);
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    for (const std::size_t row : fd::nested_sample(64, 16, seed)) ++count[row];
  for (const int c : count) EXPECT_NEAR(c, 100, 6 * 8.7);
}

TEST(FlowLadder, ExponentIsFittedWithItsError) {
  EXPECT_TRUE(std::isnan(fd::fit_exponent({{100, 0.3}}).value));
  const auto two = fd::fit_exponent({{1000, 0.3}, {4000, 0.3 * std::pow(4, 0.2)}});
  EXPECT_NEAR(two.value, 0.2, 1e-12);
  EXPECT_TRUE(std::isnan(two.uncertainty));

  // log beta = 0.15 log n + noise of 0.03: the estimate lies within 5 of its own standard errors, which is itself right.
  const fd::Random random(1, 2);
  double spread = 0, claimed = 0;
  for (int draw = 0; draw < 200; ++draw) {
    fd::Optima optima;
    for (int i = 0; i < 5; ++i) {
      const double n = 1024 * std::pow(4, i);
      optima.emplace_back(static_cast<std::size_t>(n), 0.1 * std::pow(n, 0.15) * std::exp(0.03 * random.normal(5 * draw + i)));
    }
    const auto fit = fd::fit_exponent(optima);
    spread += std::pow(fit.value - 0.15, 2) / 200, claimed += std::pow(fit.uncertainty, 2) / 200;
  }
  const double expected = 0.03 / (std::log(4.0) * std::sqrt(10.0));  // sigma / sqrt(sum (x - mean)^2)
  EXPECT_NEAR(std::sqrt(spread), expected, 0.25 * expected);
  EXPECT_NEAR(std::sqrt(claimed), expected, 0.25 * expected);
}

TEST(FlowLadder, BandwidthIsCarriedByTheMeasuredExponent) {
  EXPECT_NEAR(fd::carried_beta({{1000, 0.4}}, 4000, 6), 0.4 * std::pow(4, 2 / 11.0), 1e-12);
  EXPECT_NEAR(fd::carried_beta({{1000, 0.4}}, 4000, std::nan("")), 0.4 * std::pow(4, 2 / 11.0), 1e-12);
  EXPECT_NEAR(fd::carried_beta({{1000, 0.4}, {4000, 0.5}}, 16000, 6), 0.5 * 0.5 / 0.4, 1e-12);
  EXPECT_NEAR(fd::carried_beta({{1000, 0.4}, {4000, 0.3}}, 16000, 6), 0.3, 1e-12);  // beta does not fall with n
  EXPECT_NEAR(fd::carried_beta({{1000, 0.1}, {4000, 0.9}}, 16000, 6), 1.8, 1e-12);  // nor rise faster than its root
  // The last three rungs count.
  EXPECT_NEAR(fd::carried_beta({{10, 99.0}, {1000, 0.4}, {4000, 0.4}, {16000, 0.4}}, 64000, 6), 0.4, 1e-12);
}

}  // namespace
