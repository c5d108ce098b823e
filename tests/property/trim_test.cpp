// Rows left out of the fit: which, what becomes of them, and that they change nothing for the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <flashdiffusion/flashdiffusion.hpp>

#include "support/datasets.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

constexpr std::size_t rows = 900, stray = 17;

Dataset with_stray_row() {
  Dataset data = gaussian(rows, 3);
  for (std::size_t i = 0; i < rows; ++i)  // bounded, so that one row only is far from the others
    for (std::size_t c = 0; c < 3; ++c) data.x[i * 3 + c] = std::tanh(data.x[i * 3 + c]);
  data.x[stray * 3] = 60;
  return data;
}

Model fitted(const Dataset& data, const Options& wishes) {
  Options options = wishes;
  options.modes = 4;
  return fit(PointsView(data.x.data(), data.rows, data.dimension), options);
}

Options all_rows() {
  Options options;
  options.trim = 0;
  return options;
}

TEST(Trim, AStrayRowIsFoundAndNoLongerHoldsTheBandwidthDown) {
  const Dataset data = with_stray_row();
  const Model all = fitted(data, all_rows()), trimmed = fitted(data, {});
  EXPECT_LT(all.beta, 0.1);
  EXPECT_GT(trimmed.beta, 1.0);
  EXPECT_TRUE(trimmed.converged);
  EXPECT_NE(trimmed.outcome.find("1 of 900 rows (row 18)"), std::string::npos) << trimmed.outcome;
  EXPECT_EQ(trimmed.aside, std::vector<std::size_t>{stray});
  for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(trimmed.d[i] == 0, i == stray) << i;
  for (std::size_t j = 0; j < trimmed.modes(); ++j) EXPECT_TRUE(std::isfinite(trimmed.psi(stray, j)));
}

TEST(Trim, TheOthersAreFittedAsIfItHadNeverBeenThere) {
  const Dataset data = with_stray_row();
  Dataset others = data;
  others.rows = rows - 1;
  others.x.erase(others.x.begin() + stray * 3, others.x.begin() + (stray + 1) * 3);
  Options one = all_rows();
  one.trim = 1.5 / static_cast<double>(rows);
  const Model trimmed = fitted(data, one), without = fitted(others, all_rows());
  EXPECT_EQ(trimmed.beta, without.beta);
  EXPECT_EQ(trimmed.eigenvalues, without.eigenvalues);
  for (std::size_t i = 0; i < rows - 1; ++i)
    for (std::size_t j = 0; j < trimmed.modes(); ++j) EXPECT_EQ(trimmed.psi(i < stray ? i : i + 1, j), without.psi(i, j));
  // and later extensions do not see it either
  const double probe[6] = {0.1, -0.2, 0.3, 0.7, 0.7, -0.7};
  const auto a = trimmed.transform(PointsView(probe, 2, 3)), b = without.transform(PointsView(probe, 2, 3));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i])));
}

// Two rows left out come before two that stay and stand apart: the sentence calls these as the table does.
TEST(Trim, RowsAreCalledAsTheWholeTableCallsThem) {
  const Dataset data = table_of(300, 3, [](std::size_t i, std::size_t c) {
    const double far = i < 2 ? 1e3 * static_cast<double>(i + 1) : i == 199 || i == 250 ? 40.0 + static_cast<double>(i) : 0;
    return c == 0 && far > 0 ? far : normal_at(3, 0, i, c);
  });
  Options options;
  options.modes = 4;
  options.trim = 0.007;
  options.beta = 1;
  const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  EXPECT_NE(model.outcome.find("200"), std::string::npos) << model.outcome;
  EXPECT_NE(model.outcome.find("251"), std::string::npos) << model.outcome;
  EXPECT_EQ(model.outcome.find("198"), std::string::npos) << model.outcome;
  EXPECT_TRUE(model.names.empty());
}

TEST(Trim, AFractionLeavesTheSparsestOut) {
  Options tenth;
  tenth.trim = 0.1;
  const Model model = fitted(with_stray_row(), tenth);
  std::size_t left_out = 0;
  for (const double degree : model.d) left_out += degree == 0;
  EXPECT_EQ(left_out, rows / 10);
  EXPECT_EQ(model.d[stray], 0);
}

TEST(Trim, NothingIsLeftOutWhereNothingIsIsolated) {
  Dataset data = with_stray_row();
  data.x[stray * 3] = 0.5;
  const Model trimmed = fitted(data, {}), plain = fitted(data, all_rows());
  EXPECT_EQ(trimmed.eigenvalues, plain.eigenvalues);
  for (const double degree : trimmed.d) EXPECT_GT(degree, 0);
  Options too_much;
  too_much.trim = 0.5;
  EXPECT_THROW(fitted(data, too_much), Error);
}

// Stops once the stages named so far end with `last`.
struct StopsAt : Observer {
  explicit StopsAt(std::vector<std::string> last) : last_(std::move(last)) {}
  void progress(const Progress& now) override {
    if (seen_.empty() || seen_.back() != now.stage) seen_.push_back(now.stage);
  }
  bool stop() override { return seen_.size() >= last_.size() && std::equal(last_.rbegin(), last_.rend(), seen_.rbegin()); }

 private:
  std::vector<std::string> last_, seen_;
};

// The median row has more copies than neighbours are looked for: no bandwidth is too large for it.
TEST(Trim, TablesOfCopies) {
  Dataset data = with_stray_row();
  for (std::size_t i = 0; i < rows; ++i)
    if (i % 3 != 0)
      for (std::size_t c = 0; c < 3; ++c) data.x[i * 3 + c] = data.x[(i % 2) * 3 + c];
  Options options;
  options.trim = 0.01;
  options.modes = 4;
  EXPECT_NO_THROW(fitted(data, options));
}

TEST(Trim, PlacementCanBeStopped) {
  Dataset data = with_stray_row();
  for (std::size_t i = 0; i < 9; ++i) data.x[i * 100 * 3] = 1e3 * static_cast<double>(i + 1);  // out of reach: placed by search
  Options options;
  options.trim = 10.5 / static_cast<double>(rows);
  options.beta = 3;
  EXPECT_NE(fitted(data, options).outcome.find("left out of the fit"), std::string::npos);
  for (const auto& stages : {std::vector<std::string>{"solve", "extend"}, std::vector<std::string>{"extend", "place"}}) {
    StopsAt observer(stages);
    options.observer = &observer;
    try {
      fitted(data, options);
      FAIL() << "ran on past " << stages.back();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::interrupted);
    }
  }
}

}  // namespace
}  // namespace fd::test
