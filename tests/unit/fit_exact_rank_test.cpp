// Rows that span fewer dimensions than columns are expressed in a basis of their span: all distances stay, and nothing is done where one row
// is outside.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <flashdiffusion/flashdiffusion.hpp>

#include "fit/exact_rank.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

// `columns` combinations of `rank` normal ones, with a mean; rounded as a file of floats would have them.
Dataset combined(std::size_t rows, std::size_t columns, std::size_t rank) {
  return table_of(rows, columns, [&](std::size_t i, std::size_t c) {
    double sum = 100;
    for (std::size_t m = 0; m < rank; ++m) sum += normal_at(1, 0, i, m) * normal_at(2, 0, m, c);
    return sum;
  });
}

PointSummary reduced(const Dataset& data, Precision precision = Precision::fp32) {
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  PointSummary summary = summarise(source, {Precision::fp32});
  reduce_to_rank(source, summary, {precision}, 42);
  return summary;
}

double squared_distance(const std::vector<double>& rows, std::size_t columns, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t c = 0; c < columns; ++c) sum += std::pow(rows[i * columns + c] - rows[j * columns + c], 2);
  return sum;
}

TEST(ExactRank, DistancesStay) {
  {
    const Dataset data = combined(400, 60, 7);
    const PointSummary summary = reduced(data);
    ASSERT_EQ(summary.coordinates(), 7u);
    ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
    CentredSource turned(source, summary);
    ASSERT_EQ(turned.dimension(), 7u);
    std::vector<double> rows(data.rows * 7);
    turned.read(0, data.rows, rows.data());
    for (std::size_t i = 0; i < data.rows; i += 13)
      for (std::size_t j = 0; j < data.rows; ++j) {
        const double expected = squared_distance(data.x, 60, i, j);
        EXPECT_NEAR(squared_distance(rows, 7, i, j), expected, 1e-11 * (1 + expected));
      }
  }
}

TEST(ExactRank, ColumnsThatStandThereTwiceCountOnce) {
  const Dataset data = table_of(300, 50, [](std::size_t i, std::size_t c) { return normal_at(3, 0, i, c % 25); });
  EXPECT_EQ(reduced(data).coordinates(), 25u);
}

TEST(ExactRank, NothingIsDoneWhereItWouldLoseOrNotPay) {
  Dataset outside = combined(400, 60, 7);
  outside.x[357 * 60 + 3] += 0.01;  // one row leaves the span, and it is in no sample of 92
  EXPECT_TRUE(reduced(outside).basis.empty() || reduced(outside).coordinates() == 8u);
  EXPECT_TRUE(reduced(gaussian(400, 60)).basis.empty());
  EXPECT_TRUE(reduced(combined(400, 20, 7)).basis.empty());
  EXPECT_TRUE(reduced(combined(90, 60, 7)).basis.empty());
  EXPECT_TRUE(reduced(combined(400, 60, 7), Precision::fp64).basis.empty());
}

// Clusters far apart, whose own extent is a millionth or less of the distance: a fine kernel sees nothing else.
TEST(ExactRank, StructureMuchFinerThanTheExtentStays) {
  for (const double apart : {1e4, 1e6, 1e8}) {
    const Dataset data = table_of(400, 30, [&](std::size_t i, std::size_t c) {
      return (c < 20 ? 0.3 : 1e-7 * apart) * normal_at(5, 0, i, c) + (c == 0 && i % 2 == 1 ? apart : 0.0);
    });
    EXPECT_TRUE(reduced(data).basis.empty()) << apart;
  }
}

TEST(ExactRank, AFitIsThatOfTheColumnsThemselves) {
  const Dataset data = combined(300, 60, 5);
  const PointSummary summary = reduced(data);
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  CentredSource turned(source, summary);
  std::vector<double> rows(data.rows * 5);
  turned.read(0, data.rows, rows.data());
  Options options;
  options.modes = 6;
  options.beta = 0.01;
  const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  const Model narrow = fit(PointsView(rows.data(), data.rows, 5), options);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(model.eigenvalues[j], narrow.eigenvalues[j], 1e-5);
  EXPECT_EQ(model.points.columns(), 60u);
  // and new points that leave the span are placed by their distances in all columns
  std::vector<double> fresh(data.x.begin(), data.x.begin() + 60);
  fresh[0] += 3;
  EXPECT_NE(model.transform(PointsView(fresh.data(), 1, 60)), model.transform(PointsView(data.x.data(), 1, 60)));
}

}  // namespace
}  // namespace fd::test
