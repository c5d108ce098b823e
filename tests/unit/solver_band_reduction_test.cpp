// Band matrices made tridiagonal: the same matrix in other axes, to fp64 rounding, whatever the band.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include <Eigen/Core>

#include "base/eigenpairs.hpp"
#include "base/random.hpp"
#include "solver/band_reduction.hpp"
#include "solver/leading_pairs.hpp"

namespace fd::test {
namespace {

Eigen::MatrixXd band_matrix(Eigen::Index n, Eigen::Index band) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = j; i < std::min(n, j + band + 1); ++i)
      a(i, j) = a(j, i) = Random(4, static_cast<std::uint64_t>(j)).uniform(static_cast<std::uint64_t>(i)) - 0.5;
  return a;
}

// n roundings of entries up to 1, a few for each rotation that an entry sees.
double rounding(Eigen::Index n) { return 2.2e-16 * 20 * static_cast<double>(n); }

TEST(BandReduction, IsTheSameMatrixInOtherAxes) {
  for (const Eigen::Index n : {1, 2, 3, 5, 16, 61, 150})
    for (const Eigen::Index band : {0, 1, 2, 3, 7, 15}) {
      if (band >= n) continue;
      const Eigen::MatrixXd a = band_matrix(n, band);
      const BandReduction reduced(a, band);
      Eigen::MatrixXd t = reduced.diagonal().asDiagonal().toDenseMatrix();
      for (Eigen::Index i = 0; i + 1 < n; ++i) t(i + 1, i) = t(i, i + 1) = reduced.beside()(i);
      const Eigen::MatrixXd q = reduced.times(Eigen::MatrixXd::Identity(n, n));
      EXPECT_LE((q.transpose() * q - Eigen::MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), rounding(n)) << n << " " << band;
      EXPECT_LE((q * t * q.transpose() - a).cwiseAbs().maxCoeff(), rounding(n)) << n << " " << band;
    }
}

TEST(BandReduction, KnowsTheBand) {
  for (const Eigen::Index band : {0, 1, 4, 19}) EXPECT_EQ(bandwidth(band_matrix(20, band)), band);
  Eigen::MatrixXd corner = Eigen::MatrixXd::Identity(9, 9);
  corner(8, 0) = corner(0, 8) = 1e-300;
  EXPECT_EQ(bandwidth(corner), 8);
}

// Entries of a band that falls apart, that vanish, or that are so small that their squares do.
TEST(BandReduction, OfMatricesThatFallApart) {
  Eigen::MatrixXd a = band_matrix(90, 3);
  for (Eigen::Index i = 30; i < 60; ++i)
    for (Eigen::Index j = 0; j < 90; ++j)
      if (i != j) a(i, j) = a(j, i) = 0;
  a.block(70, 0, 20, 70) *= 1e-200;
  a.block(0, 70, 70, 20) *= 1e-200;
  LeadingPairs pairs(a);
  ASSERT_TRUE(pairs.found());
  EXPECT_LE((pairs.values() - eigenpairs(a).values.reverse()).cwiseAbs().maxCoeff(), rounding(90));
}

TEST(BandReduction, PairsOfABandAreThoseOfTheFullDecomposition) {
  for (const Eigen::Index band : {1, 3, 7}) {
    const Eigen::Index n = 120, count = 14;
    const Eigen::MatrixXd a = band_matrix(n, band);
    LeadingPairs pairs(a);
    ASSERT_TRUE(pairs.found());
    EXPECT_LE((pairs.values() - eigenpairs(a).values.reverse()).cwiseAbs().maxCoeff(), rounding(n));
    const Eigen::MatrixXd v = pairs.vectors(count).leftCols(count);
    EXPECT_LE((a * v - v * pairs.values().head(count).asDiagonal()).cwiseAbs().maxCoeff(), rounding(n));
    EXPECT_LE((v.transpose() * v - Eigen::MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff(), rounding(n));
  }
}

}  // namespace
}  // namespace fd::test
