// What is said about a fit, in the singular and in the plural.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fit/outcome.hpp"

namespace fd {
namespace {

Model with(std::vector<double> eigenvalues, std::vector<double> residuals) {
  Model model;
  model.n = 900;
  model.eigenvalues = std::move(eigenvalues);
  model.residuals = std::move(residuals);
  return model;
}

std::string residuals(std::vector<double> values, SolverOutcome outcome, std::size_t wanted) {
  Options options;
  options.modes = wanted;
  return describe_residuals(with(std::vector<double>(values.size(), 0.5), values), options, outcome);
}

TEST(Outcome, Residuals) {
  const auto converged = SolverOutcome::converged, floor = SolverOutcome::floor;
  EXPECT_EQ(residuals({1e-6}, converged, 1), "the residual is below 1e-05");
  EXPECT_EQ(residuals({1e-6, 1e-6}, converged, 2), "all 2 residuals are below 1e-05");
  EXPECT_EQ(residuals({1e-6}, converged, 2), "only 1 of 2 modes was found; the residual is below 1e-05");
  EXPECT_EQ(residuals({1e-6, 1e-6}, converged, 3), "only 2 of 3 modes were found; all 2 residuals are below 1e-05");
  EXPECT_NE(residuals({1e-6, 1e-6, 1e-4}, floor, 3).find("2 of 3 residuals reached 1e-05; the other stands at"),
            std::string::npos);
  EXPECT_NE(residuals({1e-6, 1e-4, 1e-4}, floor, 3).find("1 of 3 residuals reached 1e-05; the others stand at"),
            std::string::npos);
  EXPECT_NE(residuals({1e-4, 1e-4}, floor, 2).find("0 of 2 residuals reached 1e-05; all stand at"), std::string::npos);
  EXPECT_NE(residuals({1e-4}, floor, 1).find("0 of 1 residual reached 1e-05; it stands at"), std::string::npos);
}

TEST(Outcome, SmallEigenvalues) {
  const auto small = [](std::vector<double> values) {
    const std::vector<double> tiny(values.size(), 1e-6);
    return describe_small(with(std::move(values), tiny), Options());
  };
  EXPECT_EQ(small({0.5, 0.4}), "");
  EXPECT_EQ(small({0.5, 1e-6}),
            "eigenvalue 2 is within the tolerance of zero: nothing else is known of its mode (ask for 1 mode, or for "
            "a smaller `tolerance`)");
  EXPECT_NE(small({0.5, 0.4, 1e-6, -1e-6})
                .find("eigenvalues 3 to 4 are within the tolerance of zero: nothing else is known of their "
                      "modes (ask for 2 modes"),
            std::string::npos);
}

TEST(Outcome, EigenvaluesOfOne) {
  const auto ones = [](std::vector<double> values) {
    const std::vector<double> tiny(values.size(), 1e-6);
    return describe_ones(with(std::move(values), tiny));
  };
  EXPECT_EQ(ones({0.5}), "");
  EXPECT_EQ(ones({1}).find("the eigenvalue is 1 as far as fp32 and the residuals can tell: at this bandwidth the rows fall "
                           "apart, and the mode is"),
            0u);
  EXPECT_EQ(ones({1, 1}).find("all 2 eigenvalues are 1 as far as fp32 and the residuals can tell: at this bandwidth the rows "
                              "fall apart, and the modes are"),
            0u);
  // a value is known to its residual: 5e-6 below 1 it may be 1, unless the residual says nothing
  EXPECT_EQ(describe_ones(with({1 - 5e-6, 0.5}, {6e-6, 1e-6})).find("1 of 2 eigenvalues is 1"), 0u);
  EXPECT_EQ(describe_ones(with({1 - 5e-6, 0.5}, {3e-6, 1e-6})), "");
  EXPECT_EQ(describe_ones(with({0.99, 0.5}, {2e-2, 1e-6})), "");
  EXPECT_EQ(ones({1, 0.5}).find("1 of 2 eigenvalues is 1"), 0u);
  EXPECT_EQ(ones({1, 1, 0.5}).find("2 of 3 eigenvalues are 1"), 0u);
}

TEST(Outcome, RowsAside) {
  Model model = with({0.5}, {1e-6});
  model.aside = {17};
  EXPECT_EQ(describe_aside(model, {}), "1 of 900 rows (row 18) that the others do not resolve is placed by extension");
  model.names.assign(900, "");
  for (std::size_t i = 0; i < 900; ++i)
    model.names[i] = "row " + std::to_string(i + 3);  // by drop-rows: two before them had gaps
  EXPECT_EQ(describe_aside(model, {}), "1 of 900 rows (row 20) that the others do not resolve is placed by extension");
  model.names[17] = "AAC-1";
  EXPECT_EQ(describe_aside(model, {}), "1 of 900 rows (row \"AAC-1\") that the others do not resolve is placed by extension");
  model.names.clear();
  model.aside = {17, 20};
  EXPECT_EQ(describe_aside(model, {}), "2 of 900 rows (rows 18, 21) that the others do not resolve are placed by extension");
  EXPECT_TRUE(describe_aside(model, AsideGain{225, 0.02, 3})
                  .ends_with("on a sample of 225 rows a first search with all rows led to beta 0.02, without those to 3"));
  EXPECT_TRUE(describe_aside(model, AsideGain{900, 0.02, 3})
                  .ends_with("extension: here a first search with all rows led to beta 0.02, without those to 3"));
}

// A number of components that was asked for is repeated as a finding only where the eigenvalues say the same.
TEST(Outcome, ComponentsThatWereAskedFor) {
  const std::vector<double> spread(3, 400);
  const Model whole = with({0.9, 0.8, 0.7}, {1e-6, 1e-6, 1e-6}), three = with({1, 1 - 1e-6, 0.7}, {1e-6, 1e-6, 1e-6});
  const std::string finding = "the rows fall into 3 nearly separate components";
  EXPECT_EQ(describe_separation(three, spread, 3, true).find(finding), 0u);
  EXPECT_EQ(describe_separation(three, spread, 3, false).find(finding), 0u);
  EXPECT_EQ(describe_separation(whole, spread, 3, true),
            "the bandwidth is judged past 3 components, as was asked, though the eigenvalues show no separate ones");
  EXPECT_NE(describe_separation(with({1, 0.8, 0.7}, {1e-6, 1e-6, 1e-6}), spread, 3, true).find("show 2 nearly separate ones"),
            std::string::npos);
  EXPECT_EQ(describe_separation(whole, spread, 1, true), "");
  // next to 1 is what it is to the search: also a hundred times closer than the next
  const Model close = with({0.997, 0.4, 0.3}, {1e-6, 1e-6, 1e-6});
  EXPECT_EQ(describe_separation(close, spread, 1, false),
            "the rows fall into 2 nearly separate components: try `components = 2`");
}

TEST(Outcome, LocalisedModes) {
  const std::size_t rows = 100;
  std::vector<double> v = {1, 0.1, 0, 0.9, 0, 0.1};
  v.resize(2 * rows);
  EXPECT_EQ(describe_localised(v, {1, 500}, rows).find("1 of 2 modes lives on fewer than"), 0u);
  EXPECT_NE(describe_localised(v, {1, 500}, rows).find("(most of it on row 1)"), std::string::npos);
  EXPECT_EQ(describe_localised(v, {1, 1}, rows).find("2 of 2 modes live on fewer than"), 0u);
  EXPECT_NE(describe_localised(v, {1, 1}, rows).find("(most of them on rows 1, 2)"), std::string::npos);
  EXPECT_EQ(describe_localised(v, {1, 3}, 20).find("1 of 2 modes lives on fewer than 2.5 rows"), 0u);
  EXPECT_EQ(describe_localised(v, {1, 3}, 3), "");
}

}  // namespace
}  // namespace fd
