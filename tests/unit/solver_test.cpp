// Block Lanczos on operators whose spectra are known: slow decay, clusters, tiny gaps, rank deficiency, negative eigenvalues, spaces
// hardly larger than what is asked for, starts that hide an eigenvector, and images of low precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/eigenpairs.hpp"
#include "base/random.hpp"
#include "solver/block_lanczos.hpp"
#include "support/dense_diffusion.hpp"
#include "support/test_operators.hpp"

namespace fd::test {
namespace {

class Solver : public testing::TestWithParam<Precision> {
 protected:
  std::unique_ptr<Backend> backend = make_backend({"cpu", "", 2});
  Space space{*backend, GetParam()};
  bool wide = GetParam() == Precision::fp64;
  double tolerance = wide ? 1e-10 : 1e-5;

  SolverOptions options(std::size_t modes) {
    SolverOptions o;
    o.modes = modes;
    o.tolerance = tolerance;
    o.most_passes = 300;
    return o;
  }

  // All of the largest values, each as often as it occurs. |theta - lambda| <= residual for a symmetric operator.
  void expect_largest(const Spectrum& spectrum, std::vector<double> values, std::size_t modes) {
    std::sort(values.rbegin(), values.rend());
    ASSERT_EQ(spectrum.values.size(), modes);
    EXPECT_EQ(spectrum.outcome, SolverOutcome::converged);
    for (std::size_t j = 0; j < modes; ++j) {
      EXPECT_NEAR(spectrum.values[j], values[j], tolerance) << "value " << j;
      EXPECT_LE(spectrum.residuals[j], tolerance);
    }
    const Eigen::MatrixXd g = space.gram({*spectrum.vectors, 0, modes}, {*spectrum.vectors, 0, modes});
    const auto k = static_cast<Eigen::Index>(modes);
    // roundings of the recombinations at restarts add up; in fp64 the Gram sums of up to 512 columns round as well
    const double passes = static_cast<double>(spectrum.passes);
    EXPECT_LE((g - Eigen::MatrixXd::Identity(k, k)).cwiseAbs().maxCoeff(),
              wide ? (512 + passes) * 1.1e-16 * 4 : (30 + passes) * 6e-8);
  }

  void solve_diagonal(std::size_t n, std::size_t modes, const std::function<double(std::size_t)>& value, std::size_t block = 16) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value(i);
    DiagonalOperator a(space, values);
    auto o = options(modes);
    o.block = block;
    expect_largest(block_lanczos(space, a, o), values, modes);
  }
};

TEST_P(Solver, OneOverJ) {
  solve_diagonal(1000, 20, [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); });
}

TEST_P(Solver, ClusterLargerThanTheBlock) {
  solve_diagonal(800, 60, [](std::size_t i) { return i < 40 ? 0.9 : 0.5 / static_cast<double>(i); });
}

// Copies beyond the block, with neighbours so near that they look like copies, and others that converge at once.
TEST_P(Solver, CopiesBeyondTheBlockAmongNeighbours) {
  for (const std::size_t copies : {30, 33, 48, 60})
    solve_diagonal(
        97, 48,
        [&](std::size_t i) {
          return i < copies ? 1.0 : i < copies + 6 ? 1.0 - std::pow(10.0, -6.0 + static_cast<double>(i - copies)) : 0.3;
        },
        32);
  solve_diagonal(
      2000, 40, [](std::size_t i) { return i < 45 ? 1.0 : 0.9 * std::pow(0.999, static_cast<double>(i)); }, 16);
}

// An operator so small that random vectors have residuals below the tolerance: its largest values are found all the same.
TEST_P(Solver, ValuesHardlyLargerThanTheToleranceAreFound) {
  solve_diagonal(500, 3, [this](std::size_t i) { return 5 * tolerance * std::pow(0.3, static_cast<double>(i)); });
}

TEST_P(Solver, DoubletsAreComplete) {
  solve_diagonal(
      600, 10, [](std::size_t i) { return std::pow(0.95, static_cast<double>(i / 2)); }, 4);
}

// A chain of two vectors at a time: more copies of an eigenvalue than it can hold are found by the witnesses that two of them call.
TEST_P(Solver, TwoVectorsFindCopiesBeyondTheBlock) {
  for (const std::size_t copies : {1, 2, 3, 4, 7, 11})
    for (const std::size_t first : {0, 3})
      solve_diagonal(
          700, 10,
          [&](std::size_t i) {
            return i < first            ? 1.0 - 0.01 * static_cast<double>(i)
                   : i < first + copies ? 0.9
                                        : 0.85 * std::pow(0.99, static_cast<double>(i - first - copies));
          },
          2);
}

// Witnesses look on where the residuals that are known have reached the arithmetic's floor: what those fall no further by says nothing of copies
// that nobody has seen.
TEST_P(Solver, CopiesAreLookedForAtTheFloor) {
  for (const std::size_t block : {2, 8})
    for (const std::size_t copies : {9, 20, 24})
      for (const std::uint64_t seed : {1, 2, 3}) {
        std::vector<double> values(400);
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = i < copies ? 1.0 : 0.63 * std::pow(0.8, static_cast<double>(i - copies));
        DiagonalOperator a(space, values);
        auto o = options(20);
        o.block = block;
        o.floor = wide ? 1e-15 : 3e-7;
        o.seed = seed;
        expect_largest(block_lanczos(space, a, o), values, 20);
      }
}

// A chain measures nothing before its own estimates say so, and then it is as it was estimated: no more passes than a measurement each pass
// would have made, but for those between two looks.
TEST_P(Solver, AChainOfTwoTakesFewerColumnsThanOfEight) {
  std::vector<double> values(1500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::pow(1 + 0.05 * static_cast<double>(i), -0.5);
  DiagonalOperator a(space, values);
  std::size_t columns[2];
  for (const std::size_t block : {2, 8}) {
    auto o = options(10);
    o.block = block;
    o.basis = 1000;
    const Spectrum spectrum = block_lanczos(space, a, o);
    expect_largest(spectrum, values, 10);
    columns[block / 8] = spectrum.columns;
  }
  EXPECT_LE(3 * columns[0], 2 * columns[1]) << columns[0] << " and " << columns[1];
}

TEST_P(Solver, GapOfOneInTenMillion) {
  solve_diagonal(500, 4, [](std::size_t i) { return i == 0 ? 1.0 : i == 1 ? 1.0 - 1e-7 : 0.8 / static_cast<double>(i); });
}

TEST_P(Solver, RankDeficient) {
  solve_diagonal(400, 12, [](std::size_t i) { return i < 8 ? 1.0 / static_cast<double>(i + 1) : 0.0; });
}

TEST_P(Solver, NegativeEigenvalues) {
  solve_diagonal(700, 6,
                 [](std::size_t i) { return i % 2 == 0 ? 1.0 / static_cast<double>(i + 1) : -1.0 / static_cast<double>(i); });
}

TEST_P(Solver, SpaceBarelyLargerThanAskedFor) {
  for (const std::size_t n : {2, 3, 5, 17, 20})
    solve_diagonal(n, n - 1, [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); });
  solve_diagonal(40, 40, [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); });
}

TEST_P(Solver, WarmStartThatMissesTheLargestFindsIt) {
  const std::size_t n = 500, k = 5;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = i < 8 ? 1.0 - 0.05 * static_cast<double>(i) : 0.3 / static_cast<double>(i);
  DiagonalOperator a(space, values);
  // the start holds e_1 … e_7 exactly, and nothing of e_0
  std::vector<double> host(n * 7, 0.0);
  for (std::size_t c = 0; c < 7; ++c) host[(c + 1) * 7 + c] = 1;
  auto start = space.panel(plain_layout(n), 7);
  backend->upload(host.data(), *start);
  expect_largest(block_lanczos(space, a, options(k), nullptr, start.get()), values, k);
}

// One witness finds one direction that the start held nothing of; that it did is reason to look for more.
TEST_P(Solver, WarmStartThatMissesSeveralFindsThemAll) {
  const std::size_t n = 600, k = 10, missed = 5, carried = 20;
  std::vector<double> values(n), host(n * carried, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = i < missed ? 1.0 : i < 40 ? 0.9 - 0.01 * static_cast<double>(i) : 1.0 / static_cast<double>(i);
  DiagonalOperator a(space, values);
  for (std::size_t c = 0; c < carried; ++c) {
    host[(c + missed) * carried + c] = 1;
    for (std::size_t i = missed; i < n; ++i) host[i * carried + c] += 1e-3 * Random(3, c).normal(i);
  }
  auto start = space.panel(plain_layout(n), carried), image = space.panel(plain_layout(n), carried);
  backend->upload(host.data(), *start);
  a.apply(*start, *image);
  expect_largest(block_lanczos(space, a, options(k), nullptr, start.get(), image.get()), values, k);
  expect_largest(block_lanczos(space, a, options(k), nullptr, start.get()), values, k);
}

// With images at hand and a long way to go the witnesses come a pass late, and are heard all the same.
TEST_P(Solver, LowPrecisionWarmStartWithImagesThatMissesTheLargestFindsIt) {
  const std::size_t n = 500, k = 3, carried = 7;
  std::vector<double> values(n), host(n * carried, 0.0);
  for (std::size_t i = 0; i < n; ++i) values[i] = i < 8 ? 1.0 - 0.05 * static_cast<double>(i) : 0.3 / static_cast<double>(i);
  DiagonalOperator a(space, values);
  for (std::size_t c = 0; c < carried; ++c) {
    host[(c + 1) * carried + c] = 1;
    for (std::size_t i = 8; i < n; ++i) host[i * carried + c] = 0.002 * Random(3, c).normal(i);  // and nothing of e_0
  }
  auto start = space.panel(plain_layout(n), carried), image = space.panel(plain_layout(n), carried);
  backend->upload(host.data(), *start);
  a.apply(*start, *image);
  expect_largest(block_lanczos(space, a, options(k), nullptr, start.get(), image.get()), values, k);
}

TEST_P(Solver, WarmStartIsShortAndUselessStartIsNoLoss) {
  const std::size_t n = 1200, k = 4;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = std::exp(-0.05 * static_cast<double>(i));
  DiagonalOperator a(space, values);
  auto o = options(k);
  o.carry = 12;
  const Spectrum cold = block_lanczos(space, a, o);
  const Spectrum warm = block_lanczos(space, a, o, nullptr, cold.vectors.get());
  expect_largest(warm, values, k);
  EXPECT_LE(warm.passes, 5u);
  auto useless = space.panel(plain_layout(n), 16);
  space.randomize(*useless, 99, 7);
  const Spectrum lost = block_lanczos(space, a, o, nullptr, useless.get());
  expect_largest(lost, values, k);
  EXPECT_LE(lost.passes, cold.passes + 1);
}

// A start that holds all but some copies of one eigenvalue, from a part of the points that had not been there: two witnesses find two.
TEST_P(Solver, CopiesThatAStartHoldsNothingOfAreAllFound) {
  const std::size_t n = 1500, k = 16;
  for (const std::size_t hidden : {3, 6, 10, 20})
    for (const double apart : {0.02, 0.1}) {  // of the start from eigenvectors, where it holds anything
      SCOPED_TRACE(testing::Message() << hidden << " hidden, " << apart << " apart");
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = i < hidden ? 1 : 0.98 * std::exp(-0.02 * static_cast<double>(i - hidden));
      DiagonalOperator a(space, values);
      constexpr std::size_t carried = 20;
      std::vector<double> host(n * carried, 0.0);
      const Random noise(3, 1);
      for (std::size_t i = hidden; i < n; ++i)
        for (std::size_t c = 0; c < carried; ++c)
          host[i * carried + c] =
              (i - hidden == c ? 1 : 0) + apart / std::sqrt(static_cast<double>(n)) * noise.normal(i * carried + c);
      auto start = space.panel(plain_layout(n), carried), image = space.panel(plain_layout(n), carried);
      backend->upload(host.data(), *start);
      a.apply(*start, *image);
      for (Panel* known : {image.get(), static_cast<Panel*>(nullptr)}) {
        auto o = options(k);
        o.carry = 4;
        expect_largest(block_lanczos(space, a, o, nullptr, start.get(), known), values, k);
      }
    }
}

TEST_P(Solver, LockedVectorIsKeptOut) {
  const std::size_t n = 300;
  std::vector<double> values(n), rest;
  for (std::size_t i = 0; i < n; ++i) values[i] = 1.0 / static_cast<double>(i + 1);
  rest.assign(values.begin() + 1, values.end());
  DiagonalOperator a(space, values);
  std::vector<double> host(n, 0.0);
  host[0] = 1;
  auto locked = space.panel(plain_layout(n), 1);
  backend->upload(host.data(), *locked);
  expect_largest(block_lanczos(space, a, options(6), locked.get()), rest, 6);
}

TEST_P(Solver, RestartsInASmallBasis) {
  const std::size_t n = 900, k = 6;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 1 - std::pow(static_cast<double>(i) / static_cast<double>(n), 0.7);
  DiagonalOperator a(space, values);
  auto o = options(k);
  o.block = 4;
  o.basis = 1;  // raised to the least that a restart needs
  o.most_passes = 600;
  expect_largest(block_lanczos(space, a, o), values, k);
}

TEST_P(Solver, CeilingEndsTheSolveAtOnce) {
  std::vector<double> values(600, 0.2);
  for (std::size_t i = 0; i < 30; ++i) values[i] = 1 - 1e-9 * static_cast<double>(i);
  DiagonalOperator a(space, values);
  auto o = options(10);
  o.ceiling = 1 - 1e-6;
  const Spectrum spectrum = block_lanczos(space, a, o);
  EXPECT_EQ(spectrum.outcome, SolverOutcome::ceiling);
  EXPECT_LE(spectrum.passes, 4u);
}

TEST_P(Solver, ExhaustedPassesAreAResult) {
  std::vector<double> values(2000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 - 1e-4 * static_cast<double>(i);
  DiagonalOperator a(space, values);
  auto o = options(8);
  o.most_passes = 3;
  const Spectrum spectrum = block_lanczos(space, a, o);
  EXPECT_EQ(spectrum.outcome, SolverOutcome::exhausted);
  EXPECT_EQ(spectrum.passes, 3u);
  EXPECT_EQ(a.passes, 3u);
  ASSERT_EQ(spectrum.residuals.size(), 8u);
  EXPECT_GT(spectrum.residuals[0], o.tolerance);
}

// A basis that never grew to the number of modes: the pairs there are, each with its residual.
TEST_P(Solver, FewerPassesThanModesNeedReturnWhatThereIs) {
  std::vector<double> values(500);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 / (1 + 0.01 * static_cast<double>(i));
  DiagonalOperator a(space, values);
  auto o = options(60);
  o.most_passes = 1;
  const Spectrum spectrum = block_lanczos(space, a, o);
  EXPECT_EQ(spectrum.outcome, SolverOutcome::exhausted);
  ASSERT_EQ(spectrum.values.size(), o.block);
  ASSERT_EQ(spectrum.residuals.size(), o.block);
  EXPECT_EQ(spectrum.vectors->columns(), o.block);
  for (std::size_t j = 0; j < o.block; ++j) {
    EXPECT_LE(spectrum.values[j], 1);
    EXPECT_GE(spectrum.residuals[j], 1e-3);
    EXPECT_LE(spectrum.residuals[j], 1);
  }
}

// The whole space, and a tolerance that no arithmetic reaches: the floor, not convergence; and an end.
TEST_P(Solver, AToleranceBelowTheArithmeticEndsAtTheFloor) {
  for (const std::size_t n : {6, 40, 300}) {
    const Eigen::MatrixXd random = Eigen::MatrixXd::Random(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    DenseOperator a(space, random + random.transpose());
    auto o = options(std::min<std::size_t>(n - 1, 20));
    o.tolerance = 1e-30;
    o.floor = wide ? 1e-15 : 3e-7;
    EXPECT_NE(block_lanczos(space, a, o).outcome, SolverOutcome::converged) << n;
  }
}

// Nor is a pass spent on residuals that fall no further.
TEST_P(Solver, ResidualsThatFallNoFurtherEndTheSolve) {
  std::vector<double> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::pow(1 + static_cast<double>(i), -0.5);
  DiagonalOperator a(space, values);
  auto o = options(10);
  o.tolerance = 1e-30;
  o.floor = wide ? 1e-15 : 3e-7;
  const Spectrum spectrum = block_lanczos(space, a, o);
  EXPECT_EQ(spectrum.outcome, SolverOutcome::floor);
  EXPECT_LT(spectrum.passes, o.most_passes / 2);
}

class PoisonedOperator final : public Operator {
 public:
  PoisonedOperator(Operator& healthy, Space& space, std::size_t pass, double poison)
      : healthy_(healthy), space_(space), pass_(pass), poison_(poison) {}
  const SharedLayout& layout() const override { return healthy_.layout(); }
  void apply(Columns in, Columns out) override {
    healthy_.apply(in, out);
    if (++passes_ != pass_) return;
    std::vector<double> host(out.rows() * out.count);
    space_.backend().download(out, host.data());
    host[host.size() / 2] = poison_;
    space_.backend().upload(host.data(), out);
  }

 private:
  Operator& healthy_;
  Space& space_;
  std::size_t pass_, passes_ = 0;
  double poison_;
};

TEST_P(Solver, NaNInAnyPassIsSeen) {
  std::vector<double> values(400);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::exp(-0.02 * static_cast<double>(i));
  DiagonalOperator a(space, values);
  for (const bool values_only : {false, true}) {
    auto o = options(12);
    o.values_only = values_only;
    const std::size_t passes = block_lanczos(space, a, o).passes;
    for (const double poison : {std::nan(""), std::numeric_limits<double>::infinity()})
      for (std::size_t pass = 1; pass <= passes; ++pass) {
        PoisonedOperator poisoned(a, space, pass, poison);
        const Spectrum spectrum = block_lanczos(space, poisoned, o);
        EXPECT_EQ(spectrum.outcome, SolverOutcome::not_finite) << pass;
        EXPECT_TRUE(spectrum.values.empty());
      }
  }
}

TEST_P(Solver, SubspaceOfADenseDiffusionOperator) {
  const DenseDiffusion dense = dense_diffusion(torus(700), 0.5, 0.5);
  const Eigen::VectorXd top = dense.d.cwiseSqrt().normalized();
  DenseOperator a(space, dense.symmetric - top * top.transpose());
  const std::size_t k = 12;
  const Spectrum spectrum = block_lanczos(space, a, options(k));
  std::vector<double> values(dense.values.data(), dense.values.data() + dense.values.size());
  expect_largest(spectrum, values, k);
  // the two spans agree to residual / gap (12 first harmonics, then a gap)
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor v(700, static_cast<Eigen::Index>(k));
  backend->download({*spectrum.vectors, 0, k}, v.data());
  const Eigen::MatrixXd overlap = dense.vectors.leftCols(static_cast<Eigen::Index>(k)).transpose() * v;
  const double gap = dense.values(static_cast<Eigen::Index>(k) - 1) - dense.values(static_cast<Eigen::Index>(k));
  const double lost =
      1 - std::sqrt(eigenvalues(overlap.transpose() * overlap)(0));  // the least singular value: near 1 its square is as exact
  EXPECT_LE(lost, std::pow(std::sqrt(static_cast<double>(k)) * tolerance / gap, 2) + (wide ? 1e-12 : 1e-5));
}

// Residuals are those of the operator itself, whatever low-precision images the solve has used on its way, in a basis with and
// without restarts; and an operator that is less precise than it was permitted to be costs passes, not truth.
TEST_P(Solver, LowPrecisionImagesHideNothing) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const DenseDiffusion dense = dense_diffusion(torus(700), 0.5, 0.5);
  const Eigen::VectorXd top = dense.d.cwiseSqrt().normalized();
  const Eigen::MatrixXd matrix = dense.symmetric - top * top.transpose();
  Eigen::MatrixXd off(700, 700);
  for (Eigen::Index i = 0; i < off.size(); ++i) off.data()[i] = Random(3, 1).normal(static_cast<std::uint64_t>(i));
  off = (off + off.transpose()).eval();
  const double error = 100 * tolerance;
  off *= error / off.selfadjointView<Eigen::Lower>().eigenvalues().cwiseAbs().maxCoeff();
  const std::size_t k = 5;
  for (const bool greedy : {false, true})
    for (const std::size_t basis : {std::size_t{1}, std::size_t{200}}) {
      LowPrecisionOperator a(space, matrix, off, error, greedy);
      auto o = options(k);
      o.basis = basis;
      o.block = 8;
      const Spectrum spectrum = block_lanczos(space, a, o);
      std::vector<double> values(dense.values.data(), dense.values.data() + dense.values.size());
      expect_largest(spectrum, values, k);
      EXPECT_GE(a.low_precision_passes, 1u);
      EXPECT_LT(a.low_precision_passes, a.passes);
      RowMajor v(700, static_cast<Eigen::Index>(k));
      backend->download({*spectrum.vectors, 0, k}, v.data());
      for (std::size_t j = 0; j < k; ++j) {
        const auto column = v.col(static_cast<Eigen::Index>(j));
        const double truth = (matrix * column - spectrum.values[j] * column).norm();
        EXPECT_LE(truth, spectrum.residuals[j] + (wide ? 1e-14 : 1e-6))
            << "greedy " << greedy << ", basis " << basis << ", pair " << j;
      }
    }
}

TEST_P(Solver, SameBitsTwiceAndForAnyNumberOfThreads) {
  std::vector<double> values(3000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / (1 + 0.1 * static_cast<double>(i));
  std::vector<std::vector<double>> seen;
  for (const int threads : {1, 2, 3, 2}) {
    const auto own = make_backend({"cpu", "", threads});
    Space other(*own, GetParam());
    DiagonalOperator a(other, values);
    const Spectrum spectrum = block_lanczos(other, a, options(7));
    std::vector<double> host(values.size() * spectrum.vectors->columns());
    own->download(*spectrum.vectors, host.data());
    host.insert(host.end(), spectrum.values.begin(), spectrum.values.end());
    seen.push_back(host);
  }
  for (const auto& other : seen) EXPECT_EQ(seen.front(), other);
}

INSTANTIATE_TEST_SUITE_P(Precisions, Solver, testing::Values(Precision::fp32, Precision::fp64),
                         [](const auto& info) { return std::string(traits(info.param).name); });

}  // namespace
}  // namespace fd::test
