// One body for every back-end × instruction set × precision, against the reference back-end: K W symmetric and rectangular, the mass
// pass, at odd sizes and odd geometry. The tolerance is the promise: a row of K W is right to 8e-3 (bf16), 1e-3 (tf32), 6e-6 (fp32) or
// 1e-13 (fp64) of the same row of K |W|, whatever the points.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "contract/every_backend.hpp"
#include "support/datasets.hpp"
#include "support/worst_cases.hpp"

namespace fd::test {
namespace {

class KernelProduct : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Backend> tested = GetParam().make();
  std::unique_ptr<Backend> oracle = make_oracle();
  Precision precision = GetParam().precision;

  static std::vector<double> weights(std::size_t rows, std::size_t columns, Precision precision) {
    std::vector<double> w(rows * columns);
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] = Random(5, 1).normal(i);
      if (!traits(precision).wide_panels) w[i] = static_cast<float>(w[i]);  // both sides get the same numbers
    }
    return w;
  }

  static std::vector<double> run(Backend& backend, const Dataset& x, const Dataset* z, double beta, const std::vector<double>& w,
                                 std::size_t columns, Precision precision) {
    ViewSource x_source(PointsView(x.x.data(), x.rows, x.dimension));
    const auto points = backend.load(x_source, precision);
    std::vector<double> y(x.rows * columns);
    auto out = backend.panel(points->layout(), columns, precision);
    if (z == nullptr) {
      auto in = backend.panel(points->layout(), columns, precision);
      backend.upload(w.data(), *in);
      backend.xgemm(beta, *points, *in, *out, nullptr);
    } else {
      ViewSource z_source(PointsView(z->x.data(), z->rows, z->dimension));
      const auto others = backend.load(z_source, precision);
      auto in = backend.panel(others->layout(), columns, precision);
      backend.upload(w.data(), *in);
      backend.xgemm(beta, *points, *others, *in, *out, nullptr);
    }
    backend.download(*out, y.data());
    return y;
  }

  // K W and K |W| by the oracle, of which every back-end that is given the same numbers asks the same.
  struct Wanted {
    std::vector<double> rows, scale;
  };
  static const Wanted& wanted(const Dataset& x, const Dataset* z, double beta, const std::vector<double>& w, std::size_t columns,
                              Precision precision) {
    static std::map<std::tuple<std::size_t, std::size_t, std::size_t, double, std::size_t, std::size_t, bool>, Wanted> known;
    const auto hash = [](const std::vector<double>& numbers) {
      const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
      return std::hash<std::string_view>()(bytes);
    };
    const auto [at, fresh] = known.try_emplace(
        {hash(x.x), z != nullptr ? hash(z->x) : 0, hash(w), beta, x.rows, columns, traits(precision).wide_panels});
    if (!fresh) return at->second;
    std::vector<double> both(2 * w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      const std::size_t to = i / columns * 2 * columns + i % columns;
      both[to] = w[i];
      both[to + columns] = std::abs(w[i]);
    }
    const auto y = run(*make_oracle(), x, z, beta, both, 2 * columns, precision);
    for (std::size_t i = 0; i < x.rows * columns; ++i) {
      const std::size_t from = i / columns * 2 * columns + i % columns;
      at->second.rows.push_back(y[from]);
      // the diagonal belongs to a row of K |W|, also where a back-end leaves it to the caller
      at->second.scale.push_back(y[from + columns] + (z == nullptr ? std::abs(w[i]) : 0.0));
    }
    return at->second;
  }

  void compare(const Dataset& x, const Dataset* z, double beta, std::size_t columns, const char* what, float size_of_weights = 1,
               bool one_sign = false) {
    const std::size_t from = z != nullptr ? z->rows : x.rows;
    auto w = weights(from, columns, precision);
    for (double& value : w) value = static_cast<double>(size_of_weights) * (one_sign ? std::abs(value) : value);
    const auto got = run(*tested, x, z, beta, w, columns, precision);
    const auto& [want, scale] = wanted(x, z, beta, w, columns, precision);
    double worst = 0;  // a NaN stays
    for (std::size_t i = 0; i < got.size(); ++i)
      if (const double error = std::abs(got[i] - want[i]) / (scale[i] + 1e-30); !(error <= worst)) worst = error;
    EXPECT_LE(worst, traits(precision).row_error)
        << what << ": rows " << x.rows << ", dimension " << x.dimension << ", columns " << columns << ", beta " << beta;
  }
};

TEST_P(KernelProduct, SymmetricAtOddSizes) {
  for (const std::size_t rows : Case::some<std::size_t>({1, 2, 3, 47, 48, 49, 95, 97, 241, 500}))
    compare(gaussian(rows, 5), nullptr, 0.3, 3, "sizes");
  for (const std::size_t dimension : Case::some<std::size_t>({1, 2, 3, 4, 7, 12, 31, 32, 33, 80, 129, 300}, 2))
    compare(gaussian(131, dimension), nullptr, 0.7 / static_cast<double>(dimension), 1, "dimensions");
  for (const std::size_t columns : Case::some<std::size_t>({1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65}, 4))
    compare(gaussian(Case::rows(201), 6), nullptr, 0.2, columns, "columns");
}

TEST_P(KernelProduct, RectangularAtOddSizes) {
  const Dataset z = gaussian(157, 4, 11);
  for (const std::size_t rows : {1, 47, 49, 130}) compare(gaussian(rows, 4), &z, 0.4, 2, "rows");
  for (const std::size_t columns : {1, 2, 3, 5, 8, 17, 33}) compare(gaussian(101, 4), &z, 0.4, columns, "columns");
  const Dataset single = gaussian(1, 4, 12);
  compare(gaussian(50, 4), &single, 0.4, 1, "one column point");
}

TEST_P(KernelProduct, EveryBandwidth) {
  for (const double beta : Case::some<double>({1e-8, 1e-3, 0.1, 1.0, 5.0, 50.0, 1e3, 1e6})) {
    compare(torus(Case::rows(301)), nullptr, beta, 2, "torus");
    compare(gaussian(Case::rows(301), 2), nullptr, beta, 9, "plane");
    compare(gaussian(Case::rows(301), 50), nullptr, beta, 1, "noise in 50 dimensions");
  }
}

TEST_P(KernelProduct, TwoClustersFarApart) {
  Dataset x = gaussian(Case::rows(400), 3);
  for (std::size_t i = 0; i < x.rows / 2; ++i) x.x[i * 3] += 1e3;
  for (const double beta : {0.1, 1.0, 10.0}) {
    compare(x, nullptr, beta, 2, "clusters");
    compare(x, nullptr, beta, 8, "clusters");
  }
}

// Just inside and just outside what few bits and the factored form can hold (accuracy.hpp): a sphere with its antipodes, the largest
// exponents there can be.
TEST_P(KernelProduct, AntipodesAtTheEdgesOfForms) {
  for (const std::size_t dimension : {1, 12, 255}) {
    Dataset x = gaussian(Case::rows(400), dimension);
    for (std::size_t i = 0; i < x.rows; ++i) {
      double square = 0;
      for (std::size_t c = 0; c < dimension; ++c) square += x.x[i * dimension + c] * x.x[i * dimension + c];
      for (std::size_t c = 0; c < dimension; ++c)
        x.x[i * dimension + c] = i % 2 == 0 ? x.x[i * dimension + c] / std::sqrt(square) : -x.x[(i - 1) * dimension + c];
    }
    for (const double norm :
         Case::some<double>({5.5, 5.55, 7.87, 7.88, 7.89, 7.91, 22.6, 22.7}, 2))  // scaled: |x|^2 2 beta log2 e
      compare(x, nullptr, norm * norm / 2 * std::log(2.0), 2, "antipodes");
  }
}

// Factors of the norms, down to 2^-31 in fp32, are multiplied into weights.
TEST_P(KernelProduct, SmallAndLargeWeights) {
  for (const float size : {0x1p-80f, 0x1p80f})
    for (const double beta : {1.0, 3.0}) compare(torus(Case::rows(201)), nullptr, beta, 2, "weights", size);
}

TEST_P(KernelProduct, CommonOffsetAndDuplicates) {
  Dataset x = gaussian(Case::rows(300), 4);
  for (double& value : x.x) value += 1e4;  // loading does not centre: this offset is the back-end's own business
  compare(x, nullptr, 0.5, 2, "offset");
  Dataset same = gaussian(200, 3);
  for (std::size_t i = 100; i < 200; ++i)
    for (std::size_t c = 0; c < 3; ++c) same.x[i * 3 + c] = same.x[(i - 100) * 3 + c];
  compare(same, nullptr, 2.0, 2, "duplicates");
  for (double& value : same.x) value = 0.25;
  compare(same, nullptr, 2.0, 2, "all equal");
}

TEST_P(KernelProduct, MassIsTheSumOfEntriesAndOfTheirSquares) {
  for (const Dataset& x : {torus(Case::rows(401)), gaussian(97, 1), gaussian(49, 60), swiss_roll(Case::rows(333))})
    for (const double beta : {0.05, 1.0, 40.0}) {
      ViewSource source(PointsView(x.x.data(), x.rows, x.dimension));
      std::vector<double> got(2 * x.rows), want(2 * x.rows);
      for (auto* backend : {tested.get(), oracle.get()}) {
        const auto points = backend->load(source, precision);
        auto sums = backend->panel(points->layout(), 2, precision);
        backend->mass(beta, *points, *sums, nullptr);
        backend->download(*sums, backend == tested.get() ? got.data() : want.data());
      }
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], want[i], traits(precision).row_error * (1 + want[i]))
            << "row " << i / 2 << " column " << i % 2 << " beta " << beta;
    }
}

class LastTick final : public Watch {
 public:
  void tick(double fraction) override { last = fraction; }
  double last = 0;
};

// A pass that nobody had time to look at has been seen to end all the same.
TEST_P(KernelProduct, EveryPassTellsThatItIsOver) {
  const Dataset x = gaussian(60, 3);
  for (Backend* backend : {tested.get(), oracle.get()}) {
    ViewSource source(PointsView(x.x.data(), x.rows, x.dimension));
    const auto points = backend->load(source, precision);
    auto in = backend->panel(points->layout(), 2, precision), out = backend->panel(points->layout(), 2, precision);
    backend->upload(weights(x.rows, 2, precision).data(), *in);
    LastTick symmetric, rectangular, mass;
    backend->xgemm(0.3, *points, *in, *out, &symmetric);
    backend->xgemm(0.3, *points, *points, *in, *out, &rectangular);
    backend->mass(0.3, *points, *out, &mass);
    EXPECT_EQ(symmetric.last, 1);
    EXPECT_EQ(rectangular.last, 1);
    EXPECT_EQ(mass.last, 1);
  }
}

// Roundings that are the same in every column, or for every pair of rows, must not add up; with weights of one sign, nor along a row.
TEST_P(KernelProduct, WorstCasesOfRounding) {
  for (const auto& [name, x] : worst_cases())
    for (const double norm : Case::some<double>({0.7, 1.3, 2.1, 2.7, 3.1, 3.7, 4.3, 5.3, 6.7}))
      compare(x, nullptr, beta_for_norm(x, norm), 2, name, 1, true);
  // rows whose every neighbour is far: what bounds on few bits are for (a float's sum of D equal products is off by up to D
  // roundings)
  if (traits(precision).row_error < 1e-4) return;
  const Dataset x = hadamard(100, 512), z = hadamard(128, 512);
  for (const double norm : Case::some<double>({1.3, 2.7, 4.3, 6.7}))
    compare(x, &z, beta_for_norm(x, norm), 2, "Hadamard, rectangular", 1, true);
}

// Rows far from all others, too few for a panel of their own.
TEST_P(KernelProduct, FewRowsFarAway) {
  for (const std::size_t few : {1, 5, 20}) {
    Dataset x = gaussian(Case::rows(300), 3);
    for (std::size_t i = 0; i < few; ++i) x.x[i * 3 + 1] += 1e4;
    for (const double beta : {0.1, 1.0, 10.0}) compare(x, nullptr, beta, 2, "few rows far away");
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, KernelProduct,
                         testing::ValuesIn(every_backend({Precision::fp32, Precision::fp64, Precision::tf32, Precision::bf16})),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
