// What a report measures and says: retained mass, supports, modes to keep, remarks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/mode_count.hpp"
#include "analysis/mode_support.hpp"
#include "analysis/sampled_support.hpp"
#include "base/random.hpp"
#include "base/sample.hpp"
#include "report/findings.hpp"

namespace fd {
namespace {

Table normal_points(std::size_t rows, std::size_t dimension, bool wide) {
  Table points(rows, dimension, wide);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c) points.set(i, c, Random(3, c).normal(i));
  return points;
}

std::vector<std::size_t> all_rows(std::size_t rows) { return sampled_rows(rows, rows, 1); }

TEST(Percent, IsOneHundredOnlyOfTheWhole) {
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(percent(0.99997), "99.9 %");
  EXPECT_EQ(percent(0.9949), "99.5 %");
  EXPECT_EQ(percent(0.432), "43.2 %");
}

TEST(SampledRows, AreAscendingDistinctAndAllEquallyLikely) {
  std::vector<std::size_t> counts(20);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto rows = sampled_rows(20, 5, seed);
    ASSERT_EQ(rows.size(), 5u);
    ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    ASSERT_EQ(std::set(rows.begin(), rows.end()).size(), 5u);
    ASSERT_LT(rows.back(), 20u);
    for (const std::size_t row : rows) ++counts[row];
  }
  // 500 expected, standard deviation sqrt(2000 · 1/4 · 3/4) = 19.4: six of them
  for (const std::size_t count : counts) EXPECT_NEAR(static_cast<double>(count), 500, 6 * 19.4);
  EXPECT_EQ(sampled_rows(4, 9, 1), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(sampled_rows(0, 3, 1).empty());
}

TEST(RetainedMass, IsTheShareOfTheLargestEntriesOfARow) {
  const std::size_t n = 60;
  const double beta = 0.7;
  for (const bool wide : {false, true})
    for (const std::size_t dimension : {1u, 3u, 11u}) {
      const Table points = normal_points(n, dimension, wide);
      const KernelSupport found = sampled_support(points, all_rows(n), beta, {1, 5, 60, 500}, 1000);
      ASSERT_EQ(found.rows.size(), n);
      for (std::size_t kind = 0; kind < 4; ++kind) {
        const std::size_t k = std::min<std::size_t>(found.masses[kind].neighbours, n);
        double mean = 0;
        for (std::size_t i = 0; i < n; ++i) {
          std::vector<double> row;
          for (std::size_t j = 0; j < n; ++j) {
            double square = 0;
            for (std::size_t c = 0; c < dimension; ++c) square += std::pow(points(i, c) - points(j, c), 2);
            row.push_back(std::exp(-beta * square));
          }
          std::sort(row.rbegin(), row.rend());
          double kept = 0, all = 0;
          for (std::size_t j = 0; j < n; ++j) (j < k ? kept : all) += row[j];
          mean += kept / (kept + all) / static_cast<double>(n);
        }
        EXPECT_NEAR(found.masses[kind].share.mean, mean, 1e-13);  // in double, whatever the points are kept in
        EXPECT_LE(found.masses[kind].share.lowest, found.masses[kind].share.mean);
        EXPECT_GE(found.masses[kind].share.highest, found.masses[kind].share.mean);
      }
      EXPECT_EQ(found.masses[2].share.mean, 1);
      EXPECT_EQ(found.masses[3].share.mean, 1);
    }
}

TEST(RetainedMass, LeavesRowsOutThatMayNotBeNeighbours) {
  Table points(3, 1, true);
  points.set(1, 0, 1);
  points.set(2, 0, 1);
  const KernelSupport found = sampled_support(points, {0, 1}, 1, {1});
  EXPECT_EQ(found.rows, (std::vector<std::size_t>{0, 1}));
  EXPECT_NEAR(found.masses[0].share.mean, 1 / (1 + std::exp(-1)), 1e-15);
  EXPECT_TRUE(sampled_support(Table(), {}, 1, {1}).rows.empty());
}

TEST(ModeSupport, CountsRowsAndNamesTheLargest) {
  Model model;
  model.n = 10;
  model.eigenvalues = {0.9, 0.8};
  model.d.assign(10, 2.0);
  model.d[9] = 0;  // set aside
  model.psi = Table(10, 2, true);
  for (std::size_t i = 0; i < 10; ++i) model.psi.set(i, 0, i % 2 ? 1 : -1);
  model.psi.set(4, 1, 3);
  model.psi.set(2, 1, -1);
  const auto supports = mode_supports(model, 2);
  EXPECT_NEAR(supports[0].rows, 9, 1e-12);
  EXPECT_NEAR(supports[1].rows, 100.0 / 82, 1e-12);
  ASSERT_EQ(supports[1].carriers.size(), 2u);
  EXPECT_EQ(supports[1].carriers[0].row, 4u);
  EXPECT_NEAR(supports[1].carriers[0].share, 0.9, 1e-12);
  EXPECT_EQ(supports[1].carriers[1].row, 2u);
}

TEST(ModeCount, FindsTheLargestFallOfTheTimeScale) {
  const auto kept = [](const std::vector<double>& values) { return modes_to_keep(values); };
  // Five clusters: four eigenvalues of 1 in fp32, of which one came out a little lower.
  const std::vector<double> clusters = {1, 1, 1, 1 - 1.2e-8, 0.36, 0.34};
  EXPECT_EQ(kept(clusters).modes, 3u);
  EXPECT_EQ(modes_to_keep(clusters, 1e-6).modes, 4u);
  EXPECT_TRUE(std::isinf(modes_to_keep(clusters, 1e-6).fall));
  EXPECT_EQ(kept({0.99, 0.98, 0.97, 0.5, 0.45}).modes, 3u);
  EXPECT_TRUE(kept({0.99, 0.98, 0.97, 0.5, 0.45}).clear);
  const ModeCount even = kept({0.90, 0.89, 0.88, 0.87});
  EXPECT_EQ(even.modes, 4u);
  EXPECT_FALSE(even.clear);
  EXPECT_EQ(kept({0.5}).modes, 1u);
  EXPECT_EQ(kept({}).modes, 0u);
  EXPECT_EQ(kept({1.0, 1.0, 0.5}).modes, 2u);         // pieces: the fall past them is infinite
  EXPECT_EQ(kept({0.9, 0.3, 0.0, -1e-9}).modes, 1u);  // noise is not compared with
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(kept({nan, nan}).clear);
}

// A model whose every remark can be provoked.
Model sound_model() {
  Model model;
  model.n = 100;
  model.dimension = 2;
  model.beta = 1;
  model.converged = true;
  model.eigenvalues = {0.9, 0.5};
  model.residuals = {1e-7, 1e-7};
  model.psi = Table(100, 2, true);
  for (std::size_t i = 0; i < 100; ++i) {
    model.psi.set(i, 0, i % 2 ? 1 : -1);
    model.psi.set(i, 1, i % 4 < 2 ? 1 : -1);
  }
  model.q.assign(100, 3);
  model.d.assign(100, 1);
  model.points = normal_points(100, 2, true);
  Probe probe;
  probe.n = 100;
  probe.beta = 1;
  probe.n_eff = 20;
  probe.d_hat = 2;
  probe.outcome = "resolved";
  model.sweep = {probe, probe};
  return model;
}

std::vector<std::string> remark_names(const Model& model) {
  std::vector<std::string> names;
  for (const Remark& remark : remarks_on(model, find(model))) {
    EXPECT_FALSE(remark.sentence.empty() || remark.action.empty()) << remark.name;
    names.push_back(remark.name);
  }
  return names;
}

TEST(Remarks, AreMadeWhereThereIsCause) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(remark_names(sound_model()), Names{});
  const auto changed = [](auto change) {
    Model model = sound_model();
    change(model);
    return remark_names(model);
  };
  EXPECT_EQ(changed([](Model& m) { m.converged = false; }), Names{"not-converged"});
  EXPECT_EQ(changed([](Model& m) { m.eigenvalues[0] = 1 - 1e-5; }), Names{"separate-pieces"});
  EXPECT_EQ(changed([](Model& m) { m.psi.set(0, 1, 1e3); }), Names{"localised-modes"});
  EXPECT_EQ(changed([](Model& m) { m.aside = {4}; }), Names{"rows-aside"});
  EXPECT_EQ(changed([](Model& m) { m.sweep.back().n_eff = 2; }), Names{"few-neighbours"});
  EXPECT_EQ(changed([](Model& m) { m.sweep.back().n_eff = 80; }), Names{"broad-kernel"});
  EXPECT_EQ(changed([](Model& m) { m.n = 3, m.sweep.back().n_eff = 2; }),
            Names{"few-points"});  // not both, which contradict each other
  EXPECT_EQ(changed([](Model& m) {
              m.eigenvalues = {0.996, 0.5};
            }),
            Names{"separate-pieces"});  // a hundred times closer than the next
  EXPECT_EQ(changed([](Model& m) { m.eigenvalues[1] = m.eigenvalues[0]; }), Names{"close-eigenvalues"});
  EXPECT_EQ(changed([](Model& m) { m.sweep[0].beta = 2, m.sweep[0].outcome = "wall"; }), Names{"wall"});
  EXPECT_EQ(changed([](Model& m) { m.points = Table(); }), Names{"no-points"});
  EXPECT_EQ(changed([](Model& m) { m.points = Table(), m.converged = false; }), (Names{"not-converged", "no-points"}));
}

TEST(Remarks, SayHowFarFromOne) {
  Model model = sound_model();
  model.eigenvalues[0] = 1 - 1e-5;
  EXPECT_NE(remarks(model)[0].sentence.find("One eigenvalue is next to 1, within 1e-05"), std::string::npos);
  model.eigenvalues[0] = 1;
  EXPECT_NE(remarks(model)[0].sentence.find("One eigenvalue is 1 but for rounding: the rows"), std::string::npos);
}

// Modes 1, 2 and 4 of the data, a point's own mode between them, and a fifth.
Model model_with_a_localised_mode() {
  Model model = sound_model();
  model.eigenvalues = {0.97, 0.96, 0.955, 0.95, 0.4};
  model.residuals.assign(5, 1e-7);
  model.provenance = R"({"options": {"tolerance": 1e-5}})";
  model.psi = Table(100, 5, true);
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t j = 0; j < 5; ++j) model.psi.set(i, j, j == 2 ? (i == 7 ? 10 : 0) : (i >> j) % 2 ? 1 : -1);
  return model;
}

TEST(Keep, DoesNotCountModesOnAFewRows) {
  const Model model = model_with_a_localised_mode();
  const Findings found = find(model);
  EXPECT_EQ(found.keep.modes, 3u);
  const std::string reason = reason_to_keep(model, found);
  EXPECT_EQ(reason.find("Keep modes 1, 2, 4: past them the time scale −1/log λ falls by 17.9"), 0u) << reason;
  EXPECT_NE(reason.find("Mode 3 lives on a few rows and is not counted."), std::string::npos) << reason;
  EXPECT_NE(answer(model, found, {}).find("3 modes stand out"), std::string::npos);
}

TEST(Keep, DoesNotCountModesFromTheFirstThatDidNotConverge) {
  Model model = model_with_a_localised_mode();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double residual : {1e-3, nan}) {
    model.residuals[4] = residual;
    const Findings found = find(model);
    EXPECT_FALSE(found.keep.clear);  // the fall was to the fifth
    EXPECT_EQ(found.keep.modes, 3u);
    EXPECT_NE(reason_to_keep(model, found).find("Mode 5 did not reach the tolerance"), std::string::npos);
  }
  model.residuals[0] = 1;
  EXPECT_EQ(reason_to_keep(model, find(model)).find("No mode can be advised."), 0u);
}

TEST(Answer, SaysWhatItRestsOn) {
  Model model = sound_model();
  const auto said = [&] {
    const Findings found = find(model);
    return answer(model, found, remarks_on(model, found));
  };
  EXPECT_NE(said().find("β = 1, which the flow chose from 2 probes"), std::string::npos) << said();
  EXPECT_NE(said().find("Nothing speaks against"), std::string::npos);
  model.sweep.resize(1);
  EXPECT_NE(said().find("which was given"), std::string::npos);
  model.sweep.clear();
  EXPECT_EQ(said().find("nan"), std::string::npos) << said();
  model.converged = false;
  EXPECT_NE(said().find("serious remark"), std::string::npos);
}

TEST(Exponent, IsReadAgainstSingersRule) {
  Model model = sound_model();
  const auto read = [&] { return reading_of_exponent(model, find(model)); };
  EXPECT_NE(read().find("Too few"), std::string::npos);
  model.beta_exponent = 0.3;  // d = 2: 1/4 to 1/3
  EXPECT_NE(read().find("how certain"), std::string::npos);
  model.beta_exponent_error = 0.01;
  EXPECT_NE(read().find("behave like such a manifold"), std::string::npos);
  model.beta_exponent = 0.1;
  EXPECT_NE(read().find("more slowly"), std::string::npos);
  model.beta_exponent = 0.5;
  EXPECT_NE(read().find("faster"), std::string::npos);
  model.beta_exponent_error = 0.2;
  EXPECT_NE(read().find("behave like such a manifold"), std::string::npos);
}

}  // namespace
}  // namespace fd
