// Options that cannot be honoured, alone and against each other: refused before any work, by the name that C++ knows.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/flashdiffusion.hpp>

#include "fit/check_options.hpp"
#include "support/datasets.hpp"

namespace fd::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

struct Refused {
  const char* name;
  std::function<void(Options&)> set;
  std::vector<std::string> words;
};

class Refusal : public ::testing::TestWithParam<Refused> {};

TEST_P(Refusal, NamesTheFieldAndSaysWhatToDo) {
  Options options;
  options.modes = 5;
  GetParam().set(options);
  try {
    checked_options(options, 100);
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::string text = std::string(error.what()) + " / " + error.hint();
    for (const std::string& word : GetParam().words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
    EXPECT_FALSE(error.hint().empty());
    EXPECT_EQ(text.find("--"), std::string::npos) << "a flag in a text of the library: " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, Refusal,
    ::testing::Values(
        Refused{"NoModes", [](Options& o) { o.modes = 0; }, {"`modes = 0`"}},
        Refused{"AsManyModesAsRows", [](Options& o) { o.modes = 100; }, {"100 modes", "at most 99"}},
        Refused{"AlphaNaN", [](Options& o) { o.alpha = nan; }, {"`alpha = nan`"}},
        Refused{"AlphaAboveOne", [](Options& o) { o.alpha = 1.5; }, {"`alpha = 1.5`"}},
        Refused{"BetaNaN", [](Options& o) { o.beta = nan; }, {"`beta = nan`"}},
        Refused{"BetaZero", [](Options& o) { o.beta = 0; }, {"`beta = 0`"}},
        Refused{"BetaInfinite", [](Options& o) { o.beta = infinity; }, {"`beta = inf`"}},
        Refused{"Beta0NaN", [](Options& o) { o.beta0 = nan; }, {"`beta0 = nan`"}},
        Refused{"Beta0Negative", [](Options& o) { o.beta0 = -1; }, {"`beta0 = -1`"}},
        Refused{"CapNaN", [](Options& o) { o.beta0_cap = nan; }, {"`beta0_cap = nan`"}},
        Refused{"BetaMaxNaN", [](Options& o) { o.beta_max = nan; }, {"`beta_max = nan`"}},
        Refused{"BetaMaxZero", [](Options& o) { o.beta_max = 0; }, {"`beta_max = 0`"}},
        Refused{"StartAboveBetaMax", [](Options& o) { o.beta0 = 5, o.beta_max = 1; }, {"`beta0 = 5`", "`beta_max = 1`"}},
        Refused{"ToleranceNaN", [](Options& o) { o.tolerance = nan; }, {"`tolerance = nan`"}},
        Refused{"ToleranceZero", [](Options& o) { o.tolerance = 0; }, {"`tolerance = 0`"}},
        Refused{"ToleranceOfAnything", [](Options& o) { o.tolerance = 1; }, {"`tolerance = 1`"}},
        Refused{"NoPrecision", [](Options& o) { o.precision.clear(); }, {"`precision`"}},
        Refused{"NoComponents", [](Options& o) { o.components = 0; }, {"`components = 0`"}},
        Refused{"MoreComponentsThanModes", [](Options& o) { o.components = 6; }, {"`components = 6`", "`modes = 5`"}},
        Refused{"ComponentsBeyondAll", [](Options& o) { o.components = 100000; }, {"`components = 100000`", "`modes = 5`"}},
        Refused{"ComponentsAtABandwidth", [](Options& o) { o.components = 100000, o.beta = 1; }, {"`components = 100000`"}},
        Refused{"ThreadsNegative", [](Options& o) { o.threads = -1; }, {"`threads = -1`"}},
        Refused{"ThreadsBeyondAll", [](Options& o) { o.threads = 100000; }, {"`threads = 100000`"}},
        Refused{"BlockBeyondRows", [](Options& o) { o.block = 101; }, {"`block = 101`", "100 points"}},
        Refused{"TrimNaN", [](Options& o) { o.trim = nan; }, {"`trim = nan`"}},
        Refused{"TrimHalf", [](Options& o) { o.trim = 0.5; }, {"`trim = 0.5`"}},
        Refused{"TrimLeavesTooFewForTheModes",
                [](Options& o) { o.modes = 60, o.trim = 0.45; },
                {"60 modes", "55 points", "`trim = 0.45`"}}),
    [](const auto& info) { return info.param.name; });

TEST(CheckedOptions, TheDefaultNumberOfModesGivesWay) {
  EXPECT_EQ(checked_options({}, 17).modes, 16u);
  EXPECT_EQ(checked_options({}, 16).modes, 15u);
  EXPECT_EQ(checked_options({}, 3).modes, 2u);
  Options trimmed;
  trimmed.trim = 0.2;
  EXPECT_EQ(checked_options(trimmed, 20).modes, 15u);
  Options more;
  more.modes = 17;
  EXPECT_THROW(checked_options(more, 17), Error) << "what was asked for does not";
}

TEST(CheckedOptions, TooFewPointsAreAMatterOfInput) {
  Options trimmed;
  trimmed.trim = 0.4;
  for (const auto& [options, rows] : {std::pair{Options(), std::size_t{2}}, std::pair{trimmed, std::size_t{4}}}) {
    if (rows == 4) EXPECT_NO_THROW(checked_options(options, rows));
    else EXPECT_THROW(checked_options(options, rows), Error);
  }
  try {
    checked_options(trimmed, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Failure::input);
    EXPECT_NE(std::string(error.what()).find("`trim = 0.4`"), std::string::npos) << error.what();
  }
}

struct Notes : Observer {
  std::vector<std::string> lines;
  void note(const std::string& line) override { lines.push_back(line); }
};

TEST(Fit, AFewRowsGiveAllTheModesTheyHave) {
  const Dataset data = gaussian(9, 2);
  Notes notes;
  Options options;
  options.beta = 0.5;
  options.observer = &notes;
  const Model model = fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  EXPECT_EQ(model.modes(), 8u);
  ASSERT_EQ(notes.lines.size(), 1u);
  EXPECT_EQ(notes.lines[0], "8 modes: 9 rows have no more");
}

// The solver works with blocks of 4 or more and with a basis of the modes and three blocks, whatever was asked for.
TEST(CheckedOptions, WishesThatAreNotTakenAtTheirWordAreNamed) {
  using Lines = std::vector<std::string>;
  const auto lines = [](std::size_t block, std::size_t basis, std::size_t rows = 10000) {
    Options options;
    options.modes = 5;
    options.block = block;
    options.basis = basis;
    return taken_otherwise(checked_options(options, rows), rows);
  };
  EXPECT_EQ(lines(0, 0), Lines{});
  EXPECT_EQ(lines(4, 17), Lines{});
  EXPECT_EQ(lines(3, 0), Lines{"`block = 3` is taken as 4: narrower blocks can miss repeated eigenvalues"});
  EXPECT_EQ(lines(4, 16), Lines{"`basis = 16` is too small for 5 modes and blocks of 4: at least 17 vectors are kept"});
  EXPECT_EQ(lines(0, 5), Lines{"`basis = 5` is too small for 5 modes and blocks of 16: at least 53 vectors are kept"});
  EXPECT_EQ(lines(0, 5, 20), Lines{"`basis = 5` is too small for 5 modes and blocks of 8: at least 20 vectors are kept"});
  // a few thousand rows have room for more
  EXPECT_EQ(lines(4, 17, 1000), Lines{"`basis = 17` is too small for 5 modes and blocks of 4: at least 256 vectors are kept"});
  EXPECT_EQ(lines(0, 200, 100), Lines{"`basis = 200` is taken as 100: there are no more points"});
  EXPECT_EQ(lines(2, 3).size(), 2u);
}

TEST(Fit, SaysWhichWishesItDidNotTake) {
  const Dataset data = gaussian(60, 3);
  Notes notes;
  Options options;
  options.modes = 5;
  options.beta = 0.3;
  options.block = 3;
  options.basis = 4;
  options.observer = &notes;
  fit(PointsView(data.x.data(), data.rows, data.dimension), options);
  ASSERT_EQ(notes.lines.size(), 2u);
  EXPECT_NE(notes.lines[0].find("`block = 3`"), std::string::npos) << notes.lines[0];
  EXPECT_NE(notes.lines[1].find("`basis = 4`"), std::string::npos) << notes.lines[1];
}

TEST(Fit, ANullPointerIsMisuse) {
  EXPECT_THROW(fit(PointsView(static_cast<const double*>(nullptr), 10, 3)), Error);
  EXPECT_THROW(fit(PointsView(static_cast<const float*>(nullptr), 10, 3)), Error);
}

// Wishes at their edges that are honoured: each ends, with as many modes as were asked for.
TEST(Fit, WishesAtTheirEdges) {
  const Dataset data = gaussian(60, 3);
  const auto modes_of = [&](const std::function<void(Options&)>& set) {
    Options options;
    options.modes = 5;
    options.beta = 0.3;
    set(options);
    return fit(PointsView(data.x.data(), data.rows, data.dimension), options).modes();
  };
  EXPECT_EQ(modes_of([](Options& o) { o.block = 60; }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.block = 1; }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.basis = 1; }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.basis = std::numeric_limits<std::size_t>::max(); }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.tolerance = 1e-300; }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.components = 5; }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.beta.reset(), o.beta_max = 1e-3; }), 5u);
  EXPECT_EQ(modes_of([](Options& o) { o.beta.reset(), o.beta0 = 1, o.beta_max = 1; }), 5u);
}

}  // namespace
}  // namespace fd::test
