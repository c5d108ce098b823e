// The largest eigenpairs of small symmetric matrices, however many are asked for: spread, in clusters, copies, of matrices that fall apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/QR>

#include "base/eigenpairs.hpp"
#include "base/random.hpp"
#include "solver/leading_pairs.hpp"

namespace fd::test {
namespace {

Eigen::MatrixXd random_matrix(Eigen::Index n, std::uint64_t seed) {
  const Random random(seed, 0);
  return Eigen::MatrixXd::NullaryExpr(
      n, n, [&](Eigen::Index i, Eigen::Index j) { return random.normal(static_cast<std::uint64_t>(i * n + j)); });
}

// With these eigenvalues, and vectors that point nowhere in particular.
Eigen::MatrixXd with_values(const std::vector<double>& values) {
  const auto n = static_cast<Eigen::Index>(values.size());
  const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(n, 5)).householderQ();
  const Eigen::MatrixXd a = q * Eigen::Map<const Eigen::VectorXd>(values.data(), n).asDiagonal() * q.transpose();
  return 0.5 * (a + a.transpose());
}

struct Named {
  std::string name;
  Eigen::MatrixXd a;
};

std::vector<Named> matrices() {
  const auto values = [](std::size_t n, auto&& value) {
    std::vector<double> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = value(i);
    return with_values(all);
  };
  const auto at = [](std::size_t i) { return static_cast<double>(i); };
  Eigen::MatrixXd blocks = Eigen::MatrixXd::Zero(90, 90);  // three equal blocks: every value three times, and T falls apart
  const Eigen::MatrixXd one = random_matrix(30, 9) / 10;
  for (Eigen::Index b = 0; b < 90; b += 30) blocks.block(b, b, 30, 30) = one + one.transpose();
  return {{"small", values(7, [&](std::size_t i) { return 1 / (1 + at(i)); })},
          {"decay", values(120, [&](std::size_t i) { return std::pow(0.9, at(i)); })},
          {"evenly", values(100, [&](std::size_t i) { return at(i) / 100 - 0.5; })},
          {"doublets", values(80, [&](std::size_t i) { return 1 - 0.01 * std::floor(at(i) / 2); })},
          {"copies", values(80, [&](std::size_t i) { return i < 50 ? 1.0 : 0.2; })},
          {"nearly copies", values(80, [&](std::size_t i) { return 1 - 1e-13 * at(i); })},
          {"rank 3", values(60, [&](std::size_t i) { return i < 3 ? 1.0 : 0.0; })},
          {"tiny", values(50, [&](std::size_t i) { return 1e-200 * at(i); })},
          {"zero", Eigen::MatrixXd::Zero(40, 40)},
          {"identity", Eigen::MatrixXd::Identity(40, 40)},
          {"diagonal", Eigen::VectorXd::LinSpaced(40, -1, 1).asDiagonal()},
          {"blocks", blocks}};
}

TEST(LeadingPairs, AreThoseOfTheFullDecomposition) {
  for (const auto& [name, a] : matrices()) {
    const Eigen::Index n = a.rows();
    const Eigen::VectorXd all = eigenpairs(a).values.reverse();
    const double size = std::max(a.cwiseAbs().rowwise().sum().maxCoeff(), std::numeric_limits<double>::min());
    const double rounding = 30 * std::sqrt(static_cast<double>(n)) * 2.2e-16;
    LeadingPairs pairs(a);
    ASSERT_TRUE(pairs.found()) << name;
    ASSERT_EQ(pairs.values().size(), n);
    EXPECT_LE((pairs.values() - all).cwiseAbs().maxCoeff(), rounding * size) << name;
    for (const Eigen::Index count : {Eigen::Index{1}, n / 6, n / 3, n / 2, n}) {  // more and more of the same object
      if (count == 0) continue;
      ASSERT_GE(pairs.vectors(count).cols(), count) << name;
      const Eigen::MatrixXd v = pairs.vectors(count).leftCols(count);
      EXPECT_LE((a * v - v * pairs.values().head(count).asDiagonal()).cwiseAbs().maxCoeff(), rounding * size)
          << name << " " << count;
      EXPECT_LE((v.transpose() * v - Eigen::MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff(), rounding)
          << name << " " << count;
    }
  }
}

TEST(LeadingPairs, VectorsStayWhenMoreAreAskedFor) {
  const Eigen::MatrixXd a = with_values([] {
    std::vector<double> values;
    for (int i = 0; i < 100; ++i) values.push_back(std::pow(0.9, i));
    return values;
  }());
  LeadingPairs pairs(a);
  const Eigen::MatrixXd few = pairs.vectors(10).leftCols(10);
  EXPECT_EQ(few, pairs.vectors(40).leftCols(10));
}

TEST(LeadingPairs, OfADiagonalAreUnitVectors) {
  LeadingPairs pairs = LeadingPairs::of_diagonal(Eigen::Vector3d(3, 2, 1));
  EXPECT_EQ(pairs.values(), Eigen::Vector3d(3, 2, 1));
  EXPECT_EQ(pairs.vectors(2).leftCols(2), (Eigen::MatrixXd::Identity(3, 2)));
}

TEST(LeadingPairs, NotOfAMatrixThatIsNotFinite) {
  for (const Eigen::Index n : {5, 40})
    for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      Eigen::MatrixXd a = Eigen::MatrixXd::Identity(n, n);
      a(3, 1) = a(1, 3) = wrong;
      EXPECT_FALSE(LeadingPairs(a).found());
    }
}

// Of copies of an eigenvalue any vectors of their span would do, but what was measured of some must not be said of others.
TEST(LeadingPairs, VectorsHandedOutStay) {
  std::vector<double> values(32, 1.0);
  for (std::size_t i = 6; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i);
  LeadingPairs pairs(with_values(values));
  const Eigen::MatrixXd first = pairs.vectors(4);
  for (const Eigen::Index count : {20, 28, 32}) {
    const Eigen::MatrixXd& more = pairs.vectors(count);
    ASSERT_GE(more.cols(), count);
    EXPECT_EQ(more.leftCols(4), first.leftCols(4)) << count;
    EXPECT_LE((more.transpose() * more - Eigen::MatrixXd::Identity(more.cols(), more.cols())).cwiseAbs().maxCoeff(), 1e-13);
  }
}

}  // namespace
}  // namespace fd::test
