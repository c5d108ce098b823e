// Kernel support: row mass, retained mass, counts and the fitted law against a plain computation; pieces and threads change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/support.hpp>

#include "analysis/support_meter.hpp"
#include "base/random.hpp"

namespace fd {
namespace {

std::vector<double> normal_values(std::size_t count, std::uint64_t seed) {
  const Random random(seed, 0);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.normal(i);
  return values;
}

TEST(KernelSupport, IsWhatAPlainLoopCounts) {
  const std::size_t n = 300;
  const double beta = 2;
  for (const std::size_t dimension : {1u, 3u, 7u}) {
    const std::vector<double> x = normal_values(n * dimension, 4);
    ViewSource source(PointsView(x.data(), n, dimension));
    SupportOptions options;
    options.neighbours = {1, 20, 300};
    options.tolerances = {1e-3, 1e-9};
    options.rows = 0;
    const KernelSupport found = kernel_support(source, beta, options);
    ASSERT_EQ(found.rows.size(), n);
    double mass = 0, counts[2] = {}, kept[2] = {};
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> row;
      double all = 0;
      for (std::size_t j = 0; j < n; ++j) {
        double square = 0;
        for (std::size_t c = 0; c < dimension; ++c) square += std::pow(x[i * dimension + c] - x[j * dimension + c], 2);
        row.push_back(std::exp(-beta * square));
        all += row.back();
        for (int t = 0; t < 2; ++t) counts[t] += row.back() >= options.tolerances[static_cast<std::size_t>(t)] ? 1 : 0;
      }
      std::sort(row.rbegin(), row.rend());
      mass += all / n;
      kept[0] += row[0] / all / n;
      for (std::size_t j = 0; j < 20; ++j) kept[1] += row[j] / all / n;
    }
    EXPECT_NEAR(found.row_mass.mean, mass, 1e-12 * mass);
    EXPECT_NEAR(found.masses[0].share.mean, kept[0], 1e-13);
    EXPECT_NEAR(found.masses[1].share.mean, kept[1], 1e-13);
    EXPECT_EQ(found.masses[2].share.mean, 1);
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(found.counts[t].neighbours.mean, counts[t] / n, 1e-10);
      EXPECT_NEAR(found.counts[t].density, counts[t] / n / n, 1e-13);
    }
  }
}

TEST(KernelSupport, PiecesAndThreadsChangeNothing) {
  const std::size_t n = 5000, dimension = 5;
  const std::vector<double> x = normal_values(n * dimension, 4);
  ViewSource source(PointsView(x.data(), n, dimension));
  SupportOptions options;
  options.rows = 37;
  options.threads = 1;
  const KernelSupport one = kernel_support(source, 0.8, options);
  options.threads = 3;
  const KernelSupport three = kernel_support(source, 0.8, options);
  std::vector<double> queries(one.rows.size() * dimension);
  for (std::size_t i = 0; i < one.rows.size(); ++i) source.read(one.rows[i], 1, &queries[i * dimension]);
  SupportMeter meter(queries, dimension, 0.8, options.neighbours, options.tolerances);
  for (std::size_t first = 0; first < n; first += 7) meter.add(&x[first * dimension], std::min<std::size_t>(7, n - first));
  const KernelSupport pieces = meter.result();
  EXPECT_EQ(pieces.n, n);
  for (std::size_t k = 0; k < one.masses.size(); ++k) {
    EXPECT_EQ(one.masses[k].share.mean, three.masses[k].share.mean);
    EXPECT_EQ(one.masses[k].share.mean, pieces.masses[k].share.mean);
  }
  EXPECT_EQ(one.counts[0].neighbours.mean, pieces.counts[0].neighbours.mean);
  EXPECT_EQ(one.row_mass.mean, pieces.row_mass.mean);
}

TEST(KernelSupport, LawOfASurfaceIsFitted) {
  std::vector<RetainedMass> masses;
  for (const std::size_t k : {15u, 64u, 1024u}) masses.push_back({k, {-std::expm1(-7e-4 * k), 0, 0, 0}});
  EXPECT_NEAR(fitted_decay(masses), 7e-4, 1e-12);
  masses[2].share.mean = 1;
  EXPECT_FALSE(std::isnan(fitted_decay(masses)));
  masses[1].share.mean = 1;
  EXPECT_TRUE(std::isnan(fitted_decay(masses)));
  // a plane, evenly filled: density n, row mass n pi / beta, c_2 = beta / (n pi)
  const std::size_t n = 40000;
  const double beta = 200;
  std::vector<double> x(2 * n);
  const Random random(1, 0);
  for (std::size_t i = 0; i < 2 * n; ++i) x[i] = random.uniform(i);
  ViewSource source(PointsView(x.data(), n, 2));
  SupportOptions options;
  options.rows = 100;
  const KernelSupport plane = kernel_support(source, beta, options);
  EXPECT_NEAR(plane.c2 * n * 3.14159265 / beta, 1.1, 0.1);  // rows at the edge have fewer neighbours
  EXPECT_LT(plane.c2_departure, 0.02);
}

TEST(KernelSupport, SpreadIsMeanErrorAndNineTenths) {
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) values.push_back(100 - i);
  const RowSpread spread = spread_of(values);
  EXPECT_EQ(spread.mean, 50);
  EXPECT_EQ(spread.lowest, 5);
  EXPECT_EQ(spread.highest, 95);
  EXPECT_NEAR(spread.error, std::sqrt(858.5 / 101), 1e-12);  // the variance of 0 ... 100 is 858.5
  EXPECT_TRUE(std::isnan(spread_of({3}).error));
}

TEST(KernelSupport, Misuse) {
  std::vector<double> x = normal_values(20, 1);
  ViewSource source(PointsView(x.data(), 10, 2));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double beta : {0.0, -1.0, nan}) EXPECT_THROW(kernel_support(source, beta), Error);
  SupportOptions options;
  for (const double tau : {0.0, 1.0, nan}) {
    options.tolerances = {tau};
    EXPECT_THROW(kernel_support(source, 1, options), Error);
  }
  options.tolerances = {};
  options.neighbours = {0};
  EXPECT_THROW(kernel_support(source, 1, options), Error);
  x[13] = nan;
  try {
    kernel_support(source, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 7, column 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace fd
