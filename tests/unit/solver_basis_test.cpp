// What low-precision images may hide of a residual, by the bound it is: errors of one block are those of one product, errors of vectors kept
// from before a restart add up.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "solver/basis.hpp"
#include "support/test_operators.hpp"

namespace fd::test {
namespace {

TEST(Basis, DoubtsOfKeptVectorsAddUp) {
  const auto backend = make_backend({"reference", "", 1});
  Space space(*backend, Precision::fp64);
  constexpr double error = 1e-3;
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(80, 0, 1);
  LowPrecisionOperator a(space, values.asDiagonal(), Eigen::MatrixXd::Zero(80, 80), error, true);
  Basis basis(space, a, nullptr, 40);
  const auto grow = [&](std::size_t count) {
    const Columns fresh = basis.next(count);
    space.randomize(fresh, 1, basis.passes());
    ASSERT_EQ(basis.grow(fresh, 0, count, 1, 1), count);
    basis.rayleigh_ritz();
  };
  grow(8);
  grow(8);
  for (std::size_t j = 0; j < 16; ++j) EXPECT_NEAR(basis.doubt(j), error, 1e-12);
  constexpr std::size_t kept = 6;
  basis.keep(kept);
  grow(8);
  auto ritz = space.panel(plain_layout(80), basis.size());
  basis.ritz_vectors(*ritz);
  const Eigen::ArrayXXd share = space.gram(basis.vectors(), *ritz).array().abs();
  for (Eigen::Index j = 0; j < share.cols(); ++j) {
    const double wanted = error * (share.col(j).head(kept).sum() + share.col(j).tail(8).matrix().norm());
    EXPECT_NEAR(basis.doubt(static_cast<std::size_t>(j)), wanted, 1e-12) << j;
  }
}

}  // namespace
}  // namespace fd::test
