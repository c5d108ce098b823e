// Promises on tables made to break them: rows of K W keep the precision's promise, and what must not change a spectrum does not.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <flashdiffusion/flashdiffusion.hpp>

#include "device/backend.hpp"
#include "support/model_claims.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

PointsView view(const Dataset& data) { return {data.x.data(), data.rows, data.dimension}; }

std::vector<std::string> kinds() {
  std::vector<std::string> all;
  for (const TableKind& kind : table_kinds()) all.emplace_back(kind.name);
  return all;
}

class StructuredTable : public testing::TestWithParam<std::string> {};

// Weights that average errors out (normal), that add them up (ones), and that follow the structure (signs of a Hadamard row).
Dataset weights(std::size_t rows) {
  return table_of(rows, 3, [](std::size_t i, std::size_t c) {
    if (c == 0) return static_cast<double>(static_cast<float>(normal_at(9, 9, i)));
    return c == 1 || std::popcount(i & std::size_t{0x55}) % 2 == 0 ? 1.0 : -1.0;
  });
}

// A row of K W is right to row_error of the same row of K |W|, to twice that where X meets other points (kernel_product.hpp).
void expect_rows_as_promised(const Dataset& data, const std::vector<double>& scales, const std::string& what) {
  const Dataset w = weights(data.rows);
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>> columns(
      w.x.data(), static_cast<Eigen::Index>(data.rows), 3);
  const Dataset others = data;
  for (const double scale : scales) {
    const double beta = scale * variance_beta(data);
    const Eigen::MatrixXd kernel = dense_kernel(data, beta), want = kernel * columns, size = kernel * columns.cwiseAbs();
    const auto worst = [&](const Options& options, bool beside_others) {
      const Table got = beside_others ? kernel_product(view(data), view(others), view(w), beta, options)
                                      : kernel_product(view(data), view(w), beta, options);
      double off = 0;
      for (std::size_t i = 0; i < data.rows; ++i)
        for (std::size_t c = 0; c < 3; ++c) {
          const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(c);
          const double share = std::abs(got(i, c) - want(row, column)) / size(row, column);
          if (!(share <= off)) off = share;
        }
      return off;
    };
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16})
      for (const std::string& isa : instruction_sets()) {
        Options options;
        options.precision = {precision};
        options.isa = isa;
        for (const bool beside_others : {false, true})
          EXPECT_LE(worst(options, beside_others), (beside_others ? 2 : 1) * traits(precision).row_error)
              << what << ", " << isa << ", " << traits(precision).name << ", beta " << beta << " = " << scale << " of the scale"
              << (beside_others ? ", beside the same rows" : "");
      }
  }
}

TEST_P(StructuredTable, RowsOfTheKernelProductKeepThePromise) {
  for (const std::size_t dimension : {3, 24})
    expect_rows_as_promised(make_table(GetParam(), 150, dimension), {0.1, 1, 8, 1e3, 1e6},
                            GetParam() + " in " + std::to_string(dimension) + " dimensions");
}

// Two fits of one operator: each eigenvalue is off by the residuals and by what the precision promises.
void expect_same_spectrum(const Dataset& data, const Dataset& changed, double scale, double beyond, const std::string& what) {
  Options options;
  options.modes = 6;
  options.beta = variance_beta(data);
  const auto slack = [&](const Model& model) {
    double squares = 0;
    for (const double residual : model.residuals) squares += residual * residual;
    return std::sqrt(squares) + promised_error(model.alpha, model.precision);
  };
  const Model a = fit(view(data), options);
  options.beta = scale * *options.beta;
  const Model b = fit(view(changed), options);
  options.beta = *options.beta / scale;
  ASSERT_TRUE(a.converged && b.converged) << what << ": " << a.outcome << " / " << b.outcome;
  ASSERT_EQ(a.modes(), b.modes());
  for (std::size_t j = 0; j < a.modes(); ++j)
    EXPECT_LE(std::abs(a.eigenvalues[j] - b.eigenvalues[j]), slack(a) + slack(b) + beyond) << what << ", eigenvalue " << j;
}

TEST_P(StructuredTable, TheSpectrumDoesNotDependOnPlaceOrderOrUnit) {
  const std::size_t rows = 120, dimension = 5;
  const Dataset data = make_table(GetParam(), rows, dimension);
  // moved by 1e5: coordinates lose 2^-53 1e5 each
  const Dataset moved = table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return data.x[i * dimension + c] + 1e5 * (1.0 + static_cast<double>(c));
  });
  const double lost = 24 * std::sqrt(variance_beta(data)) * 0x1p-53 * 1e5 * 10;
  expect_same_spectrum(data, moved, 1, lost, "moved");
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) { return uniform_at(1, 1, a) < uniform_at(1, 1, b); });
  expect_same_spectrum(data,
                       table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return data.x[order[i] * dimension + c]; }),
                       1, 0, "in another order");
  expect_same_spectrum(
      data, table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return 0x1p-10 * data.x[i * dimension + c]; }), 0x1p20,
      0, "in other units");
}

INSTANTIATE_TEST_SUITE_P(Kinds, StructuredTable, testing::ValuesIn(kinds()), [](const auto& info) { return info.param; });

// Equal norms and equal distances in many dimensions: roundings of coordinates do not average out.
TEST(WideStructuredTable, RowsOfTheKernelProductKeepThePromise) {
  expect_rows_as_promised(make_table("hadamard", 512, 1024), {0.5, 2, 10}, "Hadamard rows");
  expect_rows_as_promised(make_table("circulant", 512, 256), {0.5, 2, 10}, "a circulant");
  expect_rows_as_promised(make_table("signs", 512, 256), {0.5, 2, 10}, "signs");
}

// Entries of copies are all rounded alike, up to where the form of the exponents changes.
TEST(WideStructuredTable, CopiesKeepThePromise) {
  const std::vector<double> scales = {1, 3, 5, 8, 12, 20, 30, 40, 42, 44};
  expect_rows_as_promised(make_table("hadamard", 768, 128), scales, "copies of Hadamard rows");
  expect_rows_as_promised(table_of(750, 150, [](std::size_t i, std::size_t c) { return i % 150 == c ? 1.0 : 0.0; }), scales,
                          "copies of one-hot rows");
}

}  // namespace
}  // namespace fd::test
