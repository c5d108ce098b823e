// The order of rows: panels of at least half their size whatever the points, clusters apart in panels of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "backends/cpu/locality_order.hpp"
#include "support/worst_cases.hpp"

namespace fd::test {
namespace {

constexpr std::size_t most = 48;

cpu::LocalityOrder order_of(const Dataset& x) {
  const auto order = cpu::locality_order(x.x.data(), x.rows, x.dimension, most);
  EXPECT_EQ(std::set<std::size_t>(order.order.begin(), order.order.end()).size(), x.rows);
  EXPECT_EQ(order.first_row.front(), 0u);
  EXPECT_EQ(order.first_row.back(), x.rows);
  return order;
}

std::vector<std::size_t> sizes_of(const cpu::LocalityOrder& order) {
  std::vector<std::size_t> sizes;
  for (std::size_t p = 0; p + 1 < order.first_row.size(); ++p) sizes.push_back(order.first_row[p + 1] - order.first_row[p]);
  return sizes;
}

TEST(LocalityOrder, NoPanelIsBelowHalfItsSize) {
  std::vector<Dataset> tables = {zeros_and_ones(2000, 64),  one_hot(2000, 50),  one_hot(2000, 700), cubic_lattice(2000, 1, 40),
                                 cubic_lattice(2000, 3, 3), hadamard(500, 512), gaussian(2000, 7),  gaussian(49, 2)};
  Dataset outliers = gaussian(1000, 2);
  for (std::size_t i = 0; i < 9; ++i) outliers.x[i * 2] = std::pow(10.0, static_cast<double>(i));
  tables.push_back(outliers);
  for (const Dataset& x : tables) {
    const auto sizes = sizes_of(order_of(x));
    EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), most / 2) << x.rows << " x " << x.dimension;
    EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), most);
  }
}

// A cut at a gap is an extra panel: tables of few distinct values have many gaps, and none that is worth one.
TEST(LocalityOrder, TablesOfZerosAndOnesNeedNoMorePanelsThanOthers) {
  for (const Dataset& x : {zeros_and_ones(2000, 64), hadamard(500, 512), cubic_lattice(2000, 5, 5)})
    EXPECT_LE(sizes_of(order_of(x)).size(), (x.rows + most - 1) / most + 1) << x.rows << " x " << x.dimension;
}

TEST(LocalityOrder, NoPanelStraddlesTwoClustersFarApart) {
  Dataset x = gaussian(3000, 3);
  const auto cluster = [](std::size_t row) { return row < 701 ? 0 : row < 1990 ? 1 : 2; };
  for (std::size_t i = 0; i < x.rows; ++i) x.x[i * 3] += 1e3 * cluster(i);
  const auto order = order_of(x);
  for (std::size_t p = 0; p + 1 < order.first_row.size(); ++p)
    for (std::size_t i = order.first_row[p]; i < order.first_row[p + 1]; ++i)
      ASSERT_EQ(cluster(order.order[i]), cluster(order.order[order.first_row[p]])) << "panel " << p;
}

TEST(LocalityOrder, ARowBeyondAllMeasureSharesNoPanel) {
  for (const double value : {1e12, -1e16, 1e37}) {
    Dataset x = gaussian(500, 3);
    x.x[17 * 3 + 1] = value;
    const auto order = order_of(x);
    for (std::size_t p = 0; p + 1 < order.first_row.size(); ++p) {
      const std::size_t size = order.first_row[p + 1] - order.first_row[p];
      for (std::size_t i = order.first_row[p]; i < order.first_row[p + 1]; ++i)
        if (order.order[i] == 17) {
          EXPECT_EQ(size, 1u);
        }
    }
  }
}

TEST(LocalityOrder, FewRows) {
  for (const std::size_t rows : {0, 1, 2, 23, 48}) {
    Dataset x = gaussian(rows, 2);
    EXPECT_EQ(order_of(x).first_row.size(), 2u) << rows;
  }
}

}  // namespace
}  // namespace fd::test
