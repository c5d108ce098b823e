// What real tables do: each ends with an outcome a person understands, and with numbers that are what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <flashdiffusion/flashdiffusion.hpp>

#include "flow/ladder.hpp"
#include "support/datasets.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

Model fitted(const Dataset& data, std::size_t components = 1) {
  Options options;
  options.modes = 6;
  options.components = components;
  options.trim = 0;  // what the flow does about such rows by itself: aside_test.cpp
  const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  for (std::size_t j = 0; j < model.modes(); ++j) {
    EXPECT_TRUE(std::isfinite(model.eigenvalues[j]));
    EXPECT_LE(model.eigenvalues[j], 1 + 1e-5);
    EXPECT_LE(model.residuals[j], 1e-5);
  }
  return model;
}

bool says(const Model& model, const char* words) { return model.outcome.find(words) != std::string::npos; }

TEST(OddData, TwoClustersFarApart) {
  Dataset data = gaussian(800, 3);
  for (std::size_t i = 0; i < 400; ++i) data.x[i * 3] += 1e3;
  const Model one = fitted(data);
  EXPECT_TRUE(says(one, "(precision)")) << one.outcome;
  EXPECT_TRUE(says(one, "`components = 2`")) << one.outcome;
  const Model two = fitted(data, 2);
  EXPECT_NEAR(two.eigenvalues[0], 1, 1e-6);
  EXPECT_GT(two.beta, 0.05) << "the scale of a cluster, not of the distance between them";
  EXPECT_FALSE(says(two, "`components")) << two.outcome;
}

// Twenty rows alone and a cloud: the eigenvalue 1 has twenty copies, more than a block has vectors, and no mode of the cloud comes before them.
TEST(OddData, ManyRowsAlone) {
  const Dataset cloud = table_of(320, 2, [](std::size_t i, std::size_t c) {
    return i < 300 ? normal_at(3, 0, i, c) : 100.0 + 100.0 * static_cast<double>(i - 300);
  });
  for (const std::uint64_t seed : {1, 2, 3, 42})
    for (const std::size_t modes : {3, 16, 20}) {
      Options options;
      options.modes = modes;
      options.beta = 0.5;
      options.trim = 0;
      options.seed = seed;
      const Model model = fit(PointsView(cloud.x.data(), cloud.rows, cloud.dimension), options);
      ASSERT_EQ(model.modes(), modes);
      for (const double value : model.eigenvalues) EXPECT_NEAR(value, 1, 1e-5) << modes << " modes, seed " << seed;
    }
}

// Most rows are alone at this bandwidth, and chains of others make a slow spectrum beside the many eigenvalues of 1: blocks narrower than what would
// be chosen, by wish, miss none either.
TEST(OddData, NarrowBlocksFindAllCopies) {
  for (const std::uint64_t draw : {0, 1, 2}) {
    const Dataset data = table_of(150, 2, [&](std::size_t i, std::size_t c) { return normal_at(draw, 0, i, c); });
    for (const std::size_t block : {4, 5, 8}) {
      Options options;
      options.modes = 48;
      options.beta = 300;
      options.alpha = 1;
      options.block = block;
      const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
      ASSERT_EQ(model.modes(), 48u);
      EXPECT_NEAR(model.eigenvalues.back(), 1, 5e-5) << "block " << block << ", draw " << draw;
    }
  }
}

// Blobs far from each other, each with a slow spectrum of its own: every eigenvalue of theirs next to 1 has as many copies as there are blobs.
TEST(OddData, AllOfFourBlobs) {
  const Dataset blobs = table_of(800, 2, [](std::size_t i, std::size_t c) {
    return normal_at(3, 0, i, c) + (c == 0 ? 40.0 * static_cast<double>(i / 200) : 0.0);
  });
  for (const Precision precision : {Precision::fp32, Precision::fp64})
    for (const double beta : {2.0, 5.0, 10.0})
      for (const std::size_t modes : {3, 4, 6}) {
        Options options;
        options.modes = modes;
        options.beta = beta;
        options.precision = {precision};
        const Model model = fit(PointsView(blobs.x.data(), blobs.rows, blobs.dimension), options);
        ASSERT_EQ(model.modes(), modes);
        for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(model.eigenvalues[j], 1, 1e-5) << beta << ", " << modes << " modes";
      }
}

TEST(OddData, OneOutlier) {
  Dataset data = gaussian(800, 3);
  for (std::size_t c = 0; c < 3; ++c) data.x[c] = 100;
  const Model model = fitted(data);
  EXPECT_TRUE(says(model, "nearly isolated row")) << model.outcome;
  EXPECT_TRUE(says(model, "on row 1)")) << model.outcome;
}

// The second of three rungs is the first to hold a row out of all reach, and finds no admissible bandwidth: the third starts from nothing.
TEST(OddData, AnOutlierThatOnlyLargerSamplesHold) {
  Dataset data = gaussian(16384, 3);
  const auto small = nested_sample(data.rows, 1024, Options().seed), larger = nested_sample(data.rows, 4096, Options().seed);
  const auto only_in_larger = std::find_if(larger.begin(), larger.end(),
                                           [&](std::size_t row) { return !std::binary_search(small.begin(), small.end(), row); });
  ASSERT_NE(only_in_larger, larger.end());
  data.x[*only_in_larger * 3] = 1e7;
  const Model model = fitted(data);
  EXPECT_FALSE(model.converged);
  EXPECT_TRUE(says(model, "nearly isolated row")) << model.outcome;
}

// Past the wall many eigenvalues are 1 to 1e-6 and no Lanczos ends: a row that sees only itself proves the wall from mass and degree.
TEST(OddData, AProbePastTheWallEndsWithinThreePasses) {
  Dataset data = gaussian(800, 20);
  for (std::size_t i = 0; i < 800; i += 40)  // twenty rows far out, each by itself
    for (std::size_t c = 0; c < 20; ++c) data.x[i * 20 + c] *= 3 + 0.2 * static_cast<double>(i);
  for (const Select select : {Select::minimum, Select::robust}) {
    Options options;
    options.modes = 10;
    options.select = select;
    const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
    std::size_t walls = 0;
    for (const Probe& probe : model.sweep) {
      if (probe.outcome != "wall") continue;
      ++walls;
      EXPECT_LE(probe.passes, 3u) << "beta " << probe.beta;
    }
    EXPECT_GE(walls, 1u);
  }
}

TEST(OddData, ThirtyPercentDuplicates) {
  Dataset data = gaussian(800, 3);
  std::copy_n(data.x.begin(), 240 * 3, data.x.begin() + 560 * 3);
  const Model model = fitted(data);
  EXPECT_TRUE(model.converged) << model.outcome;
}

TEST(OddData, PointsOnALine) {
  Dataset data{600, 3, std::vector<double>(1800)};
  for (std::size_t i = 0; i < 600; ++i)
    for (std::size_t c = 0; c < 3; ++c) data.x[i * 3 + c] = static_cast<double>(c + 1) * Random(6, 6).uniform(i);
  const Model model = fitted(data);
  EXPECT_TRUE(model.converged && says(model, "(resolution)")) << model.outcome;
  EXPECT_NEAR(model.sweep.back().d_hat, 1, 0.35);
}

TEST(OddData, NoiseInFiftyDimensions) {
  const Model model = fitted(gaussian(800, 50));
  EXPECT_TRUE(model.converged) << model.outcome;
  EXPECT_FALSE(model.outcome.empty());
}

}  // namespace
}  // namespace fd::test
