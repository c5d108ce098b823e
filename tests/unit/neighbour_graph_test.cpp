// The masked kernel of a neighbour graph: who is a neighbour, the spectrum, and modes against the definition.
#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Dense>

#include "analysis/neighbour_graph.hpp"
#include "base/random.hpp"

namespace fd {
namespace {

using Eigen::MatrixXd;

TEST(NeighbourGraph, MaskIsTheUnionOfNeighboursBesidesItself) {
  // on a line: 0, 1, 2, 10. Nearest: 0 -> 1, 1 -> 0 (2 is as near, of larger number), 2 -> 1, 3 -> 2
  const double x[] = {0, 1, 2, 10};
  const NeighbourGraph graph(PointsView(x, 4, 1), 0.5, 2);
  MatrixXd wanted(4, 4);
  wanted << 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1;
  EXPECT_EQ(graph.mask(1), wanted);
  EXPECT_EQ(graph.mask(2)(3, 1), 1);  // the second nearest of 10
  EXPECT_EQ(graph.mask(2)(0, 3), 0);
  EXPECT_NEAR(graph.kernel(1)(1, 2), std::exp(-0.5), 1e-15);
  EXPECT_EQ(graph.kernel(1)(0, 2), 0);
  EXPECT_NEAR(graph.kernel()(0, 2), std::exp(-2.0), 1e-15);
}

TEST(NeighbourGraph, NegativeMassIsAShareOfTheSpectrum) {
  Eigen::VectorXd spectrum(4);
  spectrum << -1, -0.5, 0.5, 4;
  EXPECT_DOUBLE_EQ(negative_mass(spectrum), 0.25);
  MatrixXd two(2, 2);
  two << 0, 3, 3, 0;
  EXPECT_NEAR(symmetric_spectrum(two)(0), -3, 1e-14);
  EXPECT_NEAR(symmetric_spectrum(two)(1), 3, 1e-14);
}

TEST(NeighbourGraph, LeastEigenvalueIsThatOfTheSpectrum) {
  const Random random(8, 0);
  for (const Eigen::Index n : {1, 7, 150}) {
    MatrixXd a(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j <= i; ++j) a(i, j) = a(j, i) = random.normal(static_cast<std::uint64_t>(i * n + j));
    const Eigen::VectorXd spectrum = symmetric_spectrum(a);
    EXPECT_NEAR(least_eigenvalue(a), spectrum(0), 1e-8 * spectrum.cwiseAbs().maxCoeff());
    EXPECT_TRUE(no_eigenvalue_below(a, spectrum(0) - 1e-9));
    EXPECT_FALSE(no_eigenvalue_below(a, spectrum(0) + 1e-9));
  }
  EXPECT_NEAR(least_eigenvalue(MatrixXd::Identity(20, 20)), 1, 1e-12);
  EXPECT_FALSE(no_eigenvalue_below(MatrixXd::Constant(3, 3, std::nan("")), -1));
}

TEST(NeighbourGraph, ModesAreRightEigenvectorsOfTheWalk) {
  const Random random(2, 0);
  std::vector<double> x(80);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random.normal(i);
  const NeighbourGraph graph(PointsView(x.data(), 40, 2), 0.4, 10);
  const MatrixXd kernel = graph.kernel(10), modes = dense_modes(kernel, 0.5, 3);
  ASSERT_EQ(modes.cols(), 3);
  const Eigen::VectorXd q = kernel.rowwise().sum();
  MatrixXd walk = q.cwiseSqrt().cwiseInverse().asDiagonal() * kernel * q.cwiseSqrt().cwiseInverse().asDiagonal();
  walk = (walk.rowwise().sum().cwiseInverse().asDiagonal() * walk).eval();
  double before = 1;
  for (Eigen::Index j = 0; j < 3; ++j) {
    const Eigen::VectorXd mode = modes.col(j), next = walk * mode;
    const double value = mode.dot(next) / mode.squaredNorm();
    EXPECT_LE((next - value * mode).norm(), 1e-12 * mode.norm());
    EXPECT_LT(value, before);
    before = value;
  }
}

}  // namespace
}  // namespace fd
