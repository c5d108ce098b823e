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

#include "support/dense_diffusion.hpp"

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

}  // namespace
}  // namespace fd::test
