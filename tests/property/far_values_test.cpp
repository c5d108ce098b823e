// One value far from all others, as fill values are: what a fit accepts it answers as a dense map in fp64 does, and what it cannot hold it
// refuses by row and column.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <flashdiffusion/flashdiffusion.hpp>

#include "base/random.hpp"
#include "device/backend.hpp"
#include "support/dense_diffusion.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

struct Case {
  Precision precision;
  double value;
  std::size_t row;
};

class FarValue : public ::testing::TestWithParam<Case> {};

// |Mv - lambda v| with M of the data in fp64.
double true_residual(const Model& model, const DenseDiffusion& dense) {
  double worst = 0;
  for (std::size_t j = 0; j < model.modes(); ++j) {
    Eigen::VectorXd v(dense.d.size());
    for (Eigen::Index i = 0; i < v.size(); ++i) v(i) = std::sqrt(dense.d(i)) * model.psi(static_cast<std::size_t>(i), j);
    v.normalize();
    const double residual = (dense.symmetric * v - model.eigenvalues[j] * v).norm();
    if (!(residual <= worst)) worst = residual;
  }
  return worst;
}

Dataset with_far_value(double value, std::size_t row) {
  Dataset data = torus(300, 12);
  data.x[row * 12 + 2] = value;
  return data;
}

constexpr double beta = 0.5;

// The far row's entries underflow whatever its value: one oracle serves all of them.
const DenseDiffusion& oracle(std::size_t row) {
  static std::map<std::size_t, DenseDiffusion> known;
  if (!known.contains(row)) known[row] = dense_diffusion(with_far_value(1e4, row), beta, Options().alpha, false);
  return known[row];
}

TEST_P(FarValue, IsHeldOrRefused) {
  const auto [precision, value, row] = GetParam();
  const Dataset data = with_far_value(value, row);
  Options options;
  options.modes = 6;
  options.beta = beta;
  options.precision = {precision};
  Model model;
  try {
    model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input);
    EXPECT_NE(std::string(error.what()).find("row " + std::to_string(row + 1) + ", column 3"), std::string::npos) << error.what();
    EXPECT_GT(std::abs(value), 1e12) << "refused, though it can be held: " << error.what();
    return;
  }
  const DenseDiffusion& dense = oracle(row);
  const double reported = *std::max_element(model.residuals.begin(), model.residuals.end());
  // what rounding adds: of coordinates, kernel and vectors
  const double rounding = traits(precision).wide_panels ? 1e-11 : traits(precision).row_error;
  EXPECT_LE(true_residual(model, dense), reported + rounding) << "reported " << reported;
  for (std::size_t j = 0; j < model.modes(); ++j)
    EXPECT_NEAR(model.eigenvalues[j], dense.values(static_cast<Eigen::Index>(j)), 1e-5 + rounding) << j;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16})
    for (const double value : {1e4, -1e5, 1e6, 1e8, 1e10, -1e12, 1e14, 1e16, 1e18, 1e25, 1e37, -1e39, 1e100, 1e150, 1e160, 1e300})
      all.push_back({precision, value, all.size() % 3 == 0 ? std::size_t{0} : std::size_t{17}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, FarValue, ::testing::ValuesIn(cases()), [](const auto& info) {
  const int power = static_cast<int>(std::lround(std::log10(std::abs(info.param.value))));
  return std::string(traits(info.param.precision).name) + (info.param.value < 0 ? "Minus" : "") + "1e" + std::to_string(power) +
         "Row" + std::to_string(info.param.row + 1);
});

// Fill values in many rows, and parts far apart: neither may cost the other its digits.
struct Parts {
  std::size_t rows, far;
  double value;
  bool shifted;  // the whole part lies there with its own geometry, else one value is the same in all its rows
  Precision precision;
};

class FarParts : public ::testing::TestWithParam<Parts> {};

TEST_P(FarParts, AreHeldOrRefused) {
  const auto [rows, far, value, shifted, precision] = GetParam();
  Dataset data = gaussian(rows, 3, 5);
  for (std::size_t i = 0; i < far; ++i) {
    double& x = data.x[(i * rows / far) * 3];
    x = shifted ? x + value : value;
  }
  Options options;
  options.modes = std::min<std::size_t>(6, rows - 1);
  options.beta = 0.3;
  options.precision = {precision};
  options.tolerance = traits(precision).wide_panels ? 1e-10 : 1e-5;
  Model model;
  try {
    model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input) << error.what();
    EXPECT_GT(value, 1e16) << "refused, though it can be held: " << error.what();
    return;
  }
  const DenseDiffusion dense = dense_diffusion(data, *options.beta, options.alpha, false);
  const double reported = *std::max_element(model.residuals.begin(), model.residuals.end());
  const double rounding = traits(precision).wide_panels ? 1e-12 : traits(precision).row_error;
  EXPECT_LE(true_residual(model, dense), reported + rounding) << "reported " << reported << ", " << model.outcome;
  if (value >= 1e9 && far < rows / 2) {
    EXPECT_NE(model.outcome.find("far out"), std::string::npos) << model.outcome;  // and it says so
  }
}

std::vector<Parts> parts() {
  std::vector<Parts> all;
  for (const Precision precision : {Precision::fp64, Precision::fp32})
    for (const bool shifted : {false, true})
      for (const double value : {1e5, 1e9, 1e12, 1e15, 1e17})
        for (const auto& [rows, far] : {std::pair<std::size_t, std::size_t>{3, 1},
                                        {10, 1},
                                        {10, 4},
                                        {10, 5},
                                        {40, 6},
                                        {90, 40},
                                        {90, 60},
                                        {200, 22},
                                        {400, 160},
                                        {400, 300}})
          all.push_back({rows, far, value, shifted, precision});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, FarParts, ::testing::ValuesIn(parts()), [](const auto& info) {
  const Parts& p = info.param;
  return std::string(traits(p.precision).name) + (p.shifted ? "Shifted" : "Fill") + "1e" +
         std::to_string(static_cast<int>(std::lround(std::log10(p.value)))) + "In" + std::to_string(p.far) + "Of" +
         std::to_string(p.rows);
});

// Rows of K 1 for neighbours far from all others, in extended precision.
std::vector<double> masses(const Dataset& data, double beta) {
  std::vector<double> all;
  for (std::size_t i = 0; i < data.rows; ++i) {
    long double sum = 0;
    for (std::size_t j = 0; j < data.rows; ++j) {
      long double square = 0;
      for (std::size_t c = 0; c < data.dimension; ++c) {
        const long double difference = static_cast<long double>(data.x[i * data.dimension + c]) - data.x[j * data.dimension + c];
        square += difference * difference;
      }
      sum += std::exp(-static_cast<long double>(beta) * square);
    }
    all.push_back(static_cast<double>(sum));
  }
  return all;
}

// The largest relative error of a row; negative where the table was refused.
double worst_row(const Dataset& data, double beta, Precision precision) {
  const Dataset ones = table_of(data.rows, 1, [](std::size_t, std::size_t) { return 1.0; });
  Options options;
  options.precision = {precision};
  try {
    const Table got = kernel_product(PointsView(data.x.data(), data.rows, data.dimension),
                                     PointsView(ones.x.data(), ones.rows, 1), beta, options);
    const std::vector<double> want = masses(data, beta);
    double worst = 0;
    for (std::size_t i = 0; i < data.rows; ++i)
      if (const double off = std::abs(got(i, 0) / want[i] - 1); !(off <= worst)) worst = off;
    return worst;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input) << error.what();
    return -1;
  }
}

constexpr Precision every_precision[] = {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16};

TEST(FarClusters, RowsKeepThePromise) {
  for (const double far : {1e3, 1e4, 1e5, 1e6, 1e8, 1e10}) {
    const Dataset data = table_of(150, 3, [&](std::size_t i, std::size_t c) {
      const double centre = c == i % 3 / 2 ? (i % 3 == 1 ? -far : i % 3 == 2 ? far / 3 : far) : 0;
      return centre + normal_at(8, 0, i, c);
    });
    for (const Precision precision : every_precision) {
      const double off = worst_row(data, 0.5, precision);
      EXPECT_LE(off, traits(precision).row_error) << far << " in " << traits(precision).name;
      if (far < traits(precision).farthest) EXPECT_GE(off, 0) << far << " is refused in " << traits(precision).name;
    }
  }
}

// Rows that are nearly equal, by a kernel far too broad or in tight groups: they are rounded alike, and nothing averages out.
TEST(NearCopies, RowsKeepThePromise) {
  for (const std::size_t dimension : {3, 5, 8, 16, 24, 40}) {
    const Dataset flat = table_of(150, dimension, [](std::size_t i, std::size_t c) { return normal_at(21, 0, i, c); });
    for (const Precision precision : every_precision)
      EXPECT_LE(worst_row(flat, 1e-9, precision), traits(precision).row_error)
          << dimension << " columns in " << traits(precision).name;
    for (const double jitter : {1e-4, 1e-5, 1e-6}) {
      const Dataset groups = table_of(144, dimension, [&](std::size_t i, std::size_t c) {
        return 2 * normal_at(22, 0, i / 24, c) / std::sqrt(static_cast<double>(dimension)) + jitter * normal_at(23, 0, i, c);
      });
      for (const Precision precision : every_precision)
        EXPECT_LE(worst_row(groups, 1, precision), traits(precision).row_error)
            << dimension << " columns, " << jitter << " in " << traits(precision).name;
    }
  }
}

// Groups of three rows in a panel that they share with others far away: beyond some distance coordinates relative to the panel have too few digits.
TEST(FarTriples, AreHeldOrRefused) {
  for (const int power : {4, 6, 8, 9, 10, 11, 12, 14, 16, 20}) {
    const double far = std::pow(10.0, power);
    const Dataset data = table_of(120, 3, [&](std::size_t i, std::size_t c) {
      return far * (2 * Random(5, c).uniform(i / 3) - 1) + 0.5 * normal_at(6, 0, i, c);
    });
    for (const Precision precision : every_precision) {
      const double off = worst_row(data, 1, precision);
      EXPECT_LE(off, traits(precision).row_error) << far << " in " << traits(precision).name;
      if (far < traits(precision).farthest) EXPECT_GE(off, 0) << far << " is refused in " << traits(precision).name;
      const bool as_they_came =
          traits(precision).wide_panels && make_backend({"auto", "", 1})->name() == "cuda";  // has all digits
      if (far > 1e4 * traits(precision).farthest && power < 16 && !as_they_came)
        EXPECT_LT(off, 0) << far << " is taken in " << traits(precision).name;
    }
  }
}

// Two neighbours among rows far from all others, who may lie in two panels; and a chain of 32 that is cut.
TEST(FarNeighbours, AreHeldOrRefusedAcrossPanels) {
  for (std::size_t seed = 0; seed < 60; ++seed)
    for (const double far : {1e8, 1e10, 1e11, 1e12, 1e13, 1e14}) {
      const std::size_t rows = 100 + 5 * seed;
      const Dataset pair = table_of(rows, 1 + seed % 2, [&](std::size_t i, std::size_t c) {
        const auto place = [&](std::size_t k) { return far * (2 * uniform_at(seed, c, k) - 1); };
        return i + 1 < rows ? place(i) : place(0) + 0.4 * normal_at(seed, 9, c);
      });
      const double off = worst_row(pair, 1, Precision::fp32);
      EXPECT_LE(off, traits(Precision::fp32).row_error) << far << ", seed " << seed;
      if (far < traits(Precision::fp32).farthest) EXPECT_GE(off, 0) << far << " is refused, seed " << seed;
    }
  for (const double far : {1e8, 1e10, 1e11, 1e12, 1e13, 1e14}) {
    const Dataset chain = table_of(96, 2, [&](std::size_t i, std::size_t c) {
      const std::size_t link = i - 32, odd = link % 2 == 0 ? link / 2 : 16 + link / 2;
      if (i >= 32 && i < 64) return c == 0 ? 0 : 0.4 * far + 1.1 * static_cast<double>(odd);
      return c == 0 ? (i < 32 ? -far : far) : far * (2 * uniform_at(1, 0, i) - 1);
    });
    for (const Precision precision : every_precision)
      EXPECT_LE(worst_row(chain, 1, precision), traits(precision).row_error) << far << " in " << traits(precision).name;
  }
}

}  // namespace
}  // namespace fd::test
