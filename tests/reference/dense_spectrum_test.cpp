// The whole fit against a dense fp64 eigendecomposition that shares no code with it.
#include <gtest/gtest.h>

#include <cmath>

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/dense_diffusion.hpp"

namespace fd::test {
namespace {

struct Case {
  const char* name;
  bool roll;
  double alpha;
  double beta;
};

class DenseSpectrum : public testing::TestWithParam<Case> {};

TEST_P(DenseSpectrum, EigenpairsAndTransform) {
  const auto& [name, roll, alpha, beta] = GetParam();
  const std::size_t n = 1400, k = 16;
  const Dataset data = roll ? swiss_roll(n) : torus(n, 32);
  const DenseDiffusion dense = dense_diffusion(data, beta, alpha, false);
  const Eigen::VectorXd pi = dense.d / dense.d.sum();

  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    const bool wide = precision == Precision::fp64;
    Options options;
    options.modes = k;
    options.alpha = alpha;
    options.beta = beta;
    options.precision = {precision};
    // a coordinate is off by the residual at that point, a few times the residual's mean over all points
    options.tolerance = wide ? 1e-10 : 2e-6;
    const Model model = fit(PointsView(data.x.data(), n, data.dimension), options);
    ASSERT_TRUE(model.converged) << model.outcome;
    ASSERT_EQ(model.modes(), k);

    for (std::size_t j = 0; j < k; ++j) {
      EXPECT_NEAR(model.eigenvalues[j], dense.values(static_cast<Eigen::Index>(j)), wide ? 1e-11 : 1e-6) << "eigenvalue " << j;
      EXPECT_LE(model.residuals[j], options.tolerance);
      // P psi = lambda psi in the pi-norm, with the dense P
      Eigen::VectorXd psi(static_cast<Eigen::Index>(n));
      for (std::size_t i = 0; i < n; ++i) psi(static_cast<Eigen::Index>(i)) = model.psi(i, j);
      const Eigen::VectorXd off = dense.p * psi - model.eigenvalues[j] * psi;
      EXPECT_LE(std::sqrt((pi.array() * off.array().square()).sum()), wide ? 1e-9 : 1e-5) << "mode " << j;
      EXPECT_NEAR((pi.array() * psi.array().square()).sum(), 1.0, 1e-5);
      Eigen::Index largest = 0;
      psi.cwiseAbs().maxCoeff(&largest);
      EXPECT_GT(psi(largest), 0);
    }

    // transform of the training points returns the training coordinates, lambda psi
    ViewSource source(PointsView(data.x.data(), n, data.dimension));
    const Table again = model.transform(source, 1, options);
    // (relative to the largest entry of psi: a row of P psi is right to a fraction of P |psi|, which that entry bounds)
    for (std::size_t j = 0; j < k; ++j) {
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double coordinate = model.eigenvalues[j] * model.psi(i, j);
        worst = std::max(worst, std::abs(again(i, j) - coordinate));
        largest = std::max(largest, std::abs(model.psi(i, j)));
      }
      EXPECT_LE(worst, (wide ? 1e-8 : 1e-5) * largest) << "coordinate " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bandwidths, DenseSpectrum,
                         testing::Values(Case{"torus_under_0", false, 0, 0.05}, Case{"torus_well_0", false, 0, 0.45},
                                         Case{"torus_over_0", false, 0, 1.0}, Case{"torus_under_half", false, 0.5, 0.05},
                                         Case{"torus_well_half", false, 0.5, 0.45}, Case{"torus_over_half", false, 0.5, 1.0},
                                         Case{"torus_under_1", false, 1, 0.05}, Case{"torus_well_1", false, 1, 0.45},
                                         Case{"torus_over_1", false, 1, 1.0}, Case{"roll_under_0", true, 0, 0.3},
                                         Case{"roll_well_0", true, 0, 4}, Case{"roll_over_0", true, 0, 40},
                                         Case{"roll_under_half", true, 0.5, 0.3}, Case{"roll_well_half", true, 0.5, 4},
                                         Case{"roll_over_half", true, 0.5, 40}, Case{"roll_under_1", true, 1, 0.3},
                                         Case{"roll_well_1", true, 1, 4}, Case{"roll_over_1", true, 1, 40}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fd::test
