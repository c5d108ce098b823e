// Several groups of rows far from all others: rows that are set aside are those that the bandwidth does not resolve, and copies of an eigenvalue
// that a sample or a walk without some rows knew nothing of are found.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <flashdiffusion/flashdiffusion.hpp>

#include "base/random.hpp"
#include "support/datasets.hpp"
#include "support/dense_diffusion.hpp"

namespace fd::test {
namespace {

// A curved sheet, then at `distance` from its middle groups of so many rows each, with the same spread in every column.
Dataset sheet_and_groups(std::size_t rows, std::size_t dimension, const std::vector<std::size_t>& groups, double spread,
                         double distance = 10) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  const Random place(31, 0), noise(31, 1), middle(31, 2);
  for (std::size_t i = 0; i < rows; ++i) {
    const double u = 2 * place.uniform(2 * i) - 1, v = 2 * place.uniform(2 * i + 1) - 1;
    for (std::size_t c = 0; c < dimension; ++c)
      data.x[i * dimension + c] = (c == 0 ? u : c == 1 ? v : c == 2 ? 0.3 * u * u : 0) + 0.01 * noise.normal(i * dimension + c);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<double> centre(dimension);
    double length = 0;
    for (std::size_t c = 0; c < dimension; ++c) length += std::pow(centre[c] = middle.normal(g * dimension + c), 2);
    for (std::size_t i = 0; i < groups[g]; ++i, ++data.rows)
      for (std::size_t c = 0; c < dimension; ++c)
        data.x.push_back(distance * centre[c] / std::sqrt(length) + spread * noise.normal(data.rows * dimension + c));
  }
  return data;
}

TEST(FarGroups, RowsThatAreSetAsideAreThoseThatAreNotResolved) {
  for (const auto& [dimension, spread] : {std::pair{3, 0.17}, std::pair{12, 0.08}}) {
    const Dataset data = sheet_and_groups(2000, static_cast<std::size_t>(dimension), {20, 40, 60, 1}, spread);
    Options options;
    const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
    EXPECT_TRUE(model.converged) << model.outcome;
    EXPECT_GT(model.beta, 2) << model.outcome;
    const Eigen::MatrixXd kernel = dense_kernel(data, model.beta);
    const Eigen::VectorXd w = kernel.rowwise().sum().array().pow(-0.5), stays = w.array() / (kernel * w).array();
    for (const std::size_t row : model.aside)
      EXPECT_GT(stays[static_cast<Eigen::Index>(row)], 0.4 * model.eigenvalues.back())
          << "row " << row + 1 << ": " << model.outcome;
    ASSERT_FALSE(model.aside.empty());
    EXPECT_EQ(model.aside.back(), data.rows - 1) << "the stray";
    EXPECT_LE(model.aside.size(), 10u) << model.outcome;
  }
}

// As many eigenvalues of 1 as there are groups of equal rows in the walk, whatever the solve started from.
TEST(FarGroups, CopiesThatNoStartKnewOfAreFound) {
  for (const auto& [groups, size] : {std::pair{10, 3}, std::pair{6, 4}, std::pair{8, 5}}) {
    const Dataset data = sheet_and_groups(
        2000, 20, std::vector<std::size_t>(static_cast<std::size_t>(groups), static_cast<std::size_t>(size)), 0, 40);
    for (const std::uint64_t seed : {42, 7}) {
      Options options;
      options.seed = seed;
      const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
      EXPECT_GT(model.beta, 5) << model.outcome;
      std::size_t apart = 0, ones = 0;
      for (std::size_t row = 2000; row < data.rows; row += static_cast<std::size_t>(size)) apart += model.d[row] > 0 ? 1 : 0;
      for (const double value : model.eigenvalues) ones += value > 1 - 1e-4 ? 1 : 0;
      EXPECT_EQ(ones, apart) << size << " rows each, seed " << seed << ": " << model.outcome;
    }
  }
}

}  // namespace
}  // namespace fd::test
