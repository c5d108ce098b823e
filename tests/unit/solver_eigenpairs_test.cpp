// Eigenpairs of small symmetric matrices, those on which Eigen's own iteration gives up included.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/eigenpairs.hpp"
#include "base/random.hpp"

namespace fd::test {
namespace {

// The diffusion operator of `distinct` rows with many copies, far apart: a projection, 1 on each set of copies and 0 beside.
Eigen::MatrixXd copies(Eigen::Index n, std::uint32_t distinct) {
  std::vector<std::uint32_t> set;
  std::vector<double> size(distinct, 0.0);
  for (Eigen::Index i = 0; i < n; ++i) {
    set.push_back(Random(1, 0).bits(static_cast<std::uint64_t>(i))[0] % distinct);
    size[set.back()] += 1;
  }
  return Eigen::MatrixXd::NullaryExpr(n, n, [&](Eigen::Index i, Eigen::Index j) {
    const auto a = set[static_cast<std::size_t>(i)], b = set[static_cast<std::size_t>(j)];
    return a == b ? 1 / size[a] : 0.0;
  });
}

TEST(Eigenpairs, CopiesOfAFewRows) {
  // sizes at which Eigen 3.4's iteration does not end among them
  for (const auto& [n, distinct] : {std::pair{72, 3}, {74, 2}, {88, 2}, {95, 2}, {60, 4}}) {
    const Eigen::MatrixXd a = copies(n, static_cast<std::uint32_t>(distinct));
    const Eigenpairs pairs = eigenpairs(a);
    ASSERT_TRUE(pairs.found) << n << " rows, " << distinct << " distinct";
    for (Eigen::Index j = 0; j < n; ++j) EXPECT_NEAR(pairs.values(j), j < n - distinct ? 0 : 1, 1e-13) << j;
    EXPECT_LE((a * pairs.vectors - pairs.vectors * pairs.values.asDiagonal()).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LE((pairs.vectors.transpose() * pairs.vectors - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(Eigenpairs, NotOfAMatrixThatIsNotFinite) {
  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Identity(5, 5);
    a(3, 1) = a(1, 3) = wrong;
    EXPECT_FALSE(eigenpairs(a).found);
  }
}

}  // namespace
}  // namespace fd::test
