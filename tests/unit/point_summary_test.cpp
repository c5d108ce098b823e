// What is known of the points before a fit: an origin that a few rows do not move, rows that dwarf the rest, values that a precision
// cannot hold; and some rows of a source, read in runs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <flashdiffusion/error.hpp>

#include "fit/centred_source.hpp"
#include "fit/some_rows.hpp"
#include "support/datasets.hpp"

namespace fd::test {
namespace {

PointSummary summary_of(const Dataset& data) {
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  return summarise(source, {Precision::fp32});
}

TEST(PointSummary, OfOrdinaryPointsTheMean) {
  Dataset data = gaussian(5000, 3);
  for (std::size_t i = 0; i < data.rows; ++i) data.x[i * 3] = std::exp(data.x[i * 3]) + 1e6;  // skewed, and far from zero
  const PointSummary summary = summary_of(data);
  double mean[3] = {}, square = 0;
  for (std::size_t i = 0; i < data.x.size(); ++i) mean[i % 3] += (data.x[i] - (i % 3 == 0 ? 1e6 : 0)) / 5000;
  mean[0] += 1e6;
  for (std::size_t i = 0; i < data.x.size(); ++i) square += std::pow(data.x[i] - mean[i % 3], 2) / 5000;
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(summary.mean[c], mean[c], 1e-9);
  EXPECT_NEAR(summary.mean_square, square, 1e-9 * square);
  EXPECT_TRUE(summary.dwarf.empty());
  EXPECT_EQ(describe_dwarfing(summary, true), "");
}

TEST(PointSummary, AFarRowDoesNotMoveTheOrigin) {
  for (const std::size_t row : {0u, 17u, 399u})
    for (const double value : {1e6, -1e16, 1e37, 1e100}) {
      Dataset data = gaussian(400, 3);
      data.x[row * 3 + 1] = value;
      const PointSummary summary = summary_of(data);
      for (const double origin : summary.mean) EXPECT_LT(std::abs(origin), 1) << value;
      EXPECT_EQ(summary.farthest.row, row);
      EXPECT_EQ(summary.farthest.column, 1u);
      EXPECT_EQ(summary.farthest.value, value);
      EXPECT_EQ(summary.dwarf, std::vector<std::size_t>{row});
      const std::string hint = describe_dwarfing(summary, true);
      EXPECT_NE(hint.find("row " + std::to_string(row + 1) + " lies"), std::string::npos) << hint;
      EXPECT_NE(hint.find("check it"), std::string::npos) << hint;
    }
}

TEST(PointSummary, ClustersAndHeavyTailsAreNotDwarfs) {
  Dataset clusters = gaussian(600, 2);
  for (std::size_t i = 0; i < 200; ++i) clusters.x[i * 2] += 1e5;
  EXPECT_EQ(describe_dwarfing(summary_of(clusters), true), "");
  Dataset exponential = gaussian(2000, 2);
  for (double& x : exponential.x) x = std::exp(x);
  EXPECT_EQ(describe_dwarfing(summary_of(exponential), true), "");
}

TEST(PointSummary, ManyDwarfsAreCountedAndTheFirstNamed) {
  Dataset data = gaussian(1000, 2);
  for (std::size_t i = 5; i < 1000; i += 100) data.x[i * 2] = 1e4;
  const PointSummary summary = summary_of(data);
  EXPECT_EQ(summary.dwarf.size(), 10u);
  EXPECT_NE(describe_dwarfing(summary, true).find("rows 6, 106, 206, 306, 406, 506, ... lie"), std::string::npos)
      << describe_dwarfing(summary, true);
}

TEST(PointSummary, DwarfsThatWereSetAsideAreNotNamedAgain) {
  Dataset data = gaussian(1000, 2);
  for (std::size_t i = 5; i < 1000; i += 100) data.x[i * 2] = 1e4;
  const PointSummary summary = summary_of(data);
  std::vector<std::size_t> aside = summary.dwarf;
  aside.push_back(999);
  EXPECT_EQ(describe_dwarfing(summary, true, {}, aside), "");
  aside.erase(aside.begin() + 8);  // one that no sentence would name
  EXPECT_NE(describe_dwarfing(summary, true, {}, aside).find("may decide the bandwidth"), std::string::npos);
  EXPECT_EQ(describe_dwarfing(summary, false).find("bandwidth"), std::string::npos) << "it was given";
}

std::string refusal(double value, Precision precision) {
  Dataset data = gaussian(300, 4);
  data.x[16 * 4 + 2] = value;
  try {
    refuse_what_precision_cannot_hold(summary_of(data), {precision});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input);
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
}

TEST(PointSummary, ValuesThatAPrecisionCannotHoldAreNamed) {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16})
    for (const double value : {1e37, -1e39, 1e150}) {
      const std::string text = refusal(value, precision);
      EXPECT_NE(text.find("row 17, column 3"), std::string::npos) << text;
      EXPECT_NE(text.find(std::string(traits(precision).name)), std::string::npos) << text;
    }
  EXPECT_EQ(refusal(1e6, Precision::fp32), "");
  EXPECT_EQ(refusal(1e6, Precision::fp64), "");
  for (const double value : {1e160, -1e308, 1.7e308}) {
    const std::string text = refusal(value, Precision::fp64);
    EXPECT_NE(text.find("row 17, column 3"), std::string::npos) << text;
  }
}

// A bandwidth that no coordinates can be scaled by is not the data's fault; a row far out is, whatever the bandwidth.
TEST(PointSummary, AnExtremeBandwidthIsNamedAndNoRow) {
  const auto error_of = [](double beta, double value, Precision precision) {
    Dataset data = gaussian(300, 4);
    data.x[16 * 4 + 2] = value;
    try {
      refuse_what_precision_cannot_hold(summary_of(data), {precision}, beta);
    } catch (const Error& error) {
      return std::pair{error.kind(), std::string(error.what())};
    }
    return std::pair{Failure::device, std::string()};
  };
  for (const double beta : {1e36, 1e308}) {
    const auto [kind, text] = error_of(beta, 0, Precision::fp32);
    EXPECT_EQ(kind, Failure::misuse);
    EXPECT_EQ(text.find("row"), text.find("rows that lie")) << text;
    EXPECT_NE(text.find("`beta = 1e+"), std::string::npos) << text;
  }
  EXPECT_EQ(error_of(1e308, 1e9, Precision::fp32).first, Failure::misuse) << "without that row it would be too large too";
  EXPECT_EQ(error_of(1e20, 1e9, Precision::fp32).first, Failure::input);
  EXPECT_EQ(error_of(1, 1e30, Precision::fp32).first, Failure::input);
  EXPECT_EQ(error_of(1e300, 0, Precision::fp64).first, Failure::misuse);
  EXPECT_EQ(error_of(1e20, 0, Precision::fp64).second, "");
}

// Counts calls and hands out row * 10 + column.
struct Counted : PointSource {
  std::size_t calls = 0;
  std::size_t rows() const override { return 100000; }
  std::size_t dimension() const override { return 2; }
  void read(std::size_t first, std::size_t count, double* out) override {
    ++calls;
    for (std::size_t i = 0; i < 2 * count; ++i) out[i] = static_cast<double>((first + i / 2) * 10 + i % 2);
  }
};

TEST(SomeRows, AreReadInRuns) {
  Counted source;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < 100000; ++row)
    if (row % 1000 != 7 && (row < 50000 || row % 3 == 0)) rows.push_back(row);
  SomeRows some(source, rows);
  ASSERT_EQ(some.rows(), rows.size());
  std::vector<double> out(2 * rows.size(), -1);
  for (const std::size_t first : {std::size_t{0}, std::size_t{123}}) {
    source.calls = 0;
    some.read(first, rows.size() - first, out.data());
    EXPECT_LT(source.calls, 200u);
    for (std::size_t i = first; i < rows.size(); ++i) {
      ASSERT_EQ(out[2 * (i - first)], static_cast<double>(rows[i] * 10));
      ASSERT_EQ(out[2 * (i - first) + 1], static_cast<double>(rows[i] * 10 + 1));
    }
  }
}

}  // namespace
}  // namespace fd::test
