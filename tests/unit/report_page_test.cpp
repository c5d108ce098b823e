// The page as text: columns read back, text is never markup, misuse is refused.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/report.hpp>

#include "report/columns.hpp"
#include "report/map_content.hpp"
#include "report/page_parts.hpp"

namespace fd {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::size_t> first_rows(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Model small_model(std::size_t n = 12, std::size_t modes = 3) {
  Model model;
  model.n = n;
  model.dimension = 1;
  model.beta = 1;
  model.converged = true;
  model.psi = Table(n, modes, true);
  model.points = Table(n, 1, true);
  for (std::size_t i = 0; i < n; ++i) {
    model.points.set(i, 0, static_cast<double>(i));
    for (std::size_t j = 0; j < modes; ++j) model.psi.set(i, j, std::cos(static_cast<double>((i + 1) * (j + 1))));
  }
  for (std::size_t j = 0; j < modes; ++j) {
    model.eigenvalues.push_back(0.9 / static_cast<double>(j + 1));
    model.residuals.push_back(1e-6);
  }
  model.q.assign(n, 2);
  model.d.assign(n, 1);
  return model;
}

TEST(Columns, NumbersReadBackToHalfAStep) {
  const std::vector<double> values = {-3, 0.1, 7, nan, 2.5, std::numeric_limits<double>::infinity()};
  const Column column = number_column("x", "number", first_rows(6), [&](std::size_t row) { return values[row]; });
  for (std::size_t i = 0; i < 6; ++i) {
    if (std::isfinite(values[i])) EXPECT_NEAR(column.low + column.step * column.codes[i], values[i], 0.5001 * column.step);
    else EXPECT_EQ(column.codes[i], Column::missing);
  }
  EXPECT_NEAR(column.step, 10.0 / 65533, 1e-12);
}

TEST(Columns, OfOneValueOfNoneAndOfTheWidestRange) {
  const auto of = [](std::vector<double> values) {
    return number_column("x", "number", first_rows(values.size()), [&](std::size_t row) { return values[row]; });
  };
  EXPECT_EQ(of({4, 4}).codes, (std::vector<std::uint16_t>{0, 0}));
  EXPECT_EQ(of({4, 4}).low, 4);
  EXPECT_EQ(of({nan, nan}).codes, (std::vector<std::uint16_t>{Column::missing, Column::missing}));
  const double huge = std::numeric_limits<double>::max();
  const Column wide = of({-huge, 0, huge});
  EXPECT_EQ(wide.codes.front(), 0);
  EXPECT_EQ(wide.codes.back(), Column::other - 1);
}

// Nanoseconds since 1970: the steps are few units of the last place, and the largest value is not the smallest.
TEST(Columns, CodesNeverLeaveTheirRange) {
  for (const double start : {1.7e18, 1e300, -4.5e15})
    for (const double unit : {1.0, 1e3, 1e6, 1e9}) {
      std::vector<double> values;
      for (int i = 0; i < 200; ++i) values.push_back(start + unit * 7 * i * std::max(1.0, std::abs(start) * 1e-16));
      const Column column = number_column("t", "mode", first_rows(values.size()), [&](std::size_t row) { return values[row]; });
      for (std::size_t i = 1; i < values.size(); ++i)
        EXPECT_GE(column.codes[i], column.codes[i - 1]) << start << ' ' << unit << ' ' << i;
      EXPECT_EQ(column.codes.back(), values.back() > values.front() ? Column::other - 1 : 0);
    }
}

// As the page's script reads it.
double read_back(const Column& column, std::size_t i) {
  if (column.form == "decimal") {
    const bool narrow = !column.codes.empty();
    const std::uint32_t code = narrow ? column.codes[i] : column.wide[i];
    return code == (narrow ? 65535u : 4294967295u) ? nan : (column.low + code) / std::pow(10.0, column.decimals);
  }
  return column.widest.empty() ? std::bit_cast<float>(column.wide[i]) : std::bit_cast<double>(column.widest[i]);
}

TEST(Columns, NumbersThatWereGivenAreKeptExactly) {
  const double huge = std::numeric_limits<double>::max(), infinite = std::numeric_limits<double>::infinity();
  struct Case {
    std::vector<double> values;
    const char* form;
    std::size_t bytes;
  };
  const std::vector<Case> cases = {{{0, 1, 65534, nan}, "decimal", 2},
                                   {{0, 1, 65535, nan}, "decimal", 4},
                                   {{0.1, 0.2, 0.3, -7.25}, "decimal", 2},
                                   {{1234.567891, 0.000001, nan}, "decimal", 4},
                                   {{1700000000123.25, 1700000000124.5}, "decimal", 2},
                                   {{0.1F, -3.25e-20F, nan}, "float", 4},
                                   {{std::acos(-1.0), 1e-300}, "float", 8},
                                   {{1.7e18, 1.7e18 + 256, 1.7e18 + 1e9}, "float", 8},
                                   {{-huge, 0, huge, nan, infinite}, "float", 8},
                                   {{nan, nan}, "decimal", 2}};
  for (const Case& c : cases) {
    const Column column = exact_column({"x", {}, c.values}, first_rows(c.values.size()));
    EXPECT_EQ(column.form, c.form) << c.values[0];
    EXPECT_EQ(column.bytes_a_row(), c.bytes) << c.values[0];
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      if (std::isnan(c.values[i])) EXPECT_TRUE(std::isnan(read_back(column, i)));
      else EXPECT_EQ(read_back(column, i), c.values[i]);
    }
  }
}

TEST(Columns, WordsAreListedByFrequency) {
  const Column column = word_column({"k", {"b", "a", "", "b", "c"}, {}}, first_rows(5));
  EXPECT_EQ(column.words, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(column.codes, (std::vector<std::uint16_t>{0, 1, Column::missing, 0, 2}));
}

TEST(Columns, FewWholeNumbersAreClusters) {
  const double nan = std::nan("");
  const Column clusters = label_column({"k", {}, {2, 0, nan, 2, -0.0, 10}}, first_rows(6));
  EXPECT_EQ(clusters.kind, "word");
  EXPECT_EQ(clusters.words, (std::vector<std::string>{"0", "2", "10"}));
  EXPECT_EQ(clusters.codes[2], Column::missing);
  std::vector<double> twenty(20), more(21);
  std::iota(twenty.begin(), twenty.end(), 0), std::iota(more.begin(), more.end(), 0);
  EXPECT_EQ(label_column({"k", {}, twenty}, first_rows(20)).kind, "word");
  for (const std::vector<double>& numbers : {more, {1, 2.5}, {nan, nan}, {1, std::numeric_limits<double>::infinity()}})
    EXPECT_EQ(label_column({"x", {}, numbers}, first_rows(numbers.size())).kind, "number");
  EXPECT_EQ(label_column({"k", {"1.50", "b"}, {}}, first_rows(2)).words.front(), "1.50");
  EXPECT_EQ(label_column({"k", {}, {18014398509481984.0}}, first_rows(1)).words.front(), "18014398509481984");
}

TEST(Columns, WordsBeyondTheListAreOthers) {
  Labels labels{"k", {}, {}};
  for (std::size_t i = 0; i < 70000; ++i) labels.words.push_back("word " + std::to_string(i));
  labels.words.push_back("word 7");
  const Column column = word_column(labels, first_rows(labels.words.size()));
  EXPECT_EQ(column.words.size(), 65534u);
  EXPECT_EQ(column.words.front(), "word 7");
  EXPECT_EQ(std::count(column.codes.begin(), column.codes.end(), Column::other), 70000 - 65534);
}

TEST(Base64, OfKnownBytes) {  // RFC 4648, of "foob" and "fooba"'s even neighbours
  EXPECT_EQ(base64(std::vector<std::uint16_t>{0x6f66, 0x626f}), "Zm9vYg==");
  EXPECT_EQ(base64(std::vector<std::uint16_t>{0x6f66, 0x626f, 0x7261}), "Zm9vYmFy");
  EXPECT_EQ(base64(std::vector<std::uint16_t>{0x6f66}), "Zm8=");
  EXPECT_EQ(base64(std::vector<std::uint32_t>{0x626f6f66}), "Zm9vYg==");
  EXPECT_EQ(base64(std::vector<std::uint16_t>{}), "");
}

TEST(ReportPage, TextIsNeverMarkup) {
  const std::string evil = "</script><img src=x onerror=alert(1)><!--<script>{{document}}";
  Model model = small_model();
  model.outcome = evil;
  model.converged = false;
  model.names.assign(model.n, evil);
  model.provenance = "{\"command\": [\"x\"], \"note\": \"</SCRIPT>\"}";
  model.aside = {0};
  ReportOptions options;
  options.title = evil;
  options.labels = {{evil, std::vector<std::string>(model.n, evil), {}}};
  const std::string page = report_page(model, options), plain = report_page(small_model());
  const auto occurrences = [](const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(occurrences(page, "<img"), occurrences(plain, "<img"));
  EXPECT_EQ(occurrences(page, "<!--"), occurrences(plain, "<!--"));
  EXPECT_EQ(occurrences(page, "</SCRIPT>"), 0u);
  EXPECT_EQ(occurrences(page, "</script>"), occurrences(plain, "</script>") + 1);  // one more column
}

TEST(ReportPage, IsTheSameBytesAgainAndHoldsItsParts) {
  const Model model = small_model();
  const std::string page = report_page(model);
  EXPECT_EQ(page, report_page(model));
  for (const std::string_view part : {page::style, page::library, page::report_content.script, page::library_hash,
                                      page::report_content.script_hash, page::style_hash})
    EXPECT_NE(page.find(part), std::string::npos);
  EXPECT_EQ(page.find("{{"), page.find("{{", page.find(page::library)));  // no place of the frame is left
}

TEST(ReportPage, ModesAreLimitedByRoomAndRowsBySample) {
  const Model model = small_model(40, 30);
  const MapContent map = map_content(model, {}, 10);
  EXPECT_EQ(map.rows.size(), 10u);
  EXPECT_EQ(map.columns.size(), 31u);
  EXPECT_NE(report_page(model, {"", {}, 10}).find("a random sample of 10 of the 40 rows"), std::string::npos);
}

TEST(ReportPage, StaysBelowSixMegabytesAndSaysWhatIsLeftOut) {
  constexpr std::size_t n = 100000;
  Model model = small_model(n, 16);
  ReportOptions options;
  const auto holds = [](const std::string& page, const char* sentence) { return page.find(sentence) != std::string::npos; };
  for (std::size_t i = 0; i < n; ++i) model.names.push_back("cell " + std::to_string(1000000 + i));
  std::string page = report_page(model, options);
  EXPECT_LT(page.size(), 6000000u);
  EXPECT_TRUE(holds(page, "The map offers the first ") && holds(page, " of 16 modes, to keep the page below 6 MB."));
  EXPECT_TRUE(holds(page, "\"cell 1099999\""));
  for (int column = 0; column < 4; ++column) {
    Labels labels{"angle", {}, {}};
    for (std::size_t i = 0; i < n; ++i) labels.numbers.push_back(std::sin(static_cast<double>(i * (column + 1))));
    options.labels.push_back(labels);
  }
  std::size_t shown = 0;
  page = report_page(model, options, &shown);
  EXPECT_LT(page.size(), 6000000u);
  EXPECT_TRUE(holds(page, " MB, are left out of the map and of what is saved from it"));
  EXPECT_LT(shown, n);
  EXPECT_TRUE(holds(page, ("a random sample of " + std::to_string(shown) + " of the 100000 rows, to keep").c_str()));
  Labels words{"words", {}, {}};
  for (std::size_t i = 0; i < n; ++i) words.words.push_back("word " + std::to_string(i));
  options.labels = {words};
  page = report_page(model, options);
  EXPECT_LT(page.size(), 6000000u);
  EXPECT_TRUE(holds(page, "most frequent words"));
  EXPECT_TRUE(holds(report_page(small_model(80, 70)), "The map offers the first 64 of 70 modes."));
}

TEST(ReportPage, ThousandsOfLabelColumnsStayBelowSixMegabytes) {
  const Model model = small_model(400);
  ReportOptions options;
  for (int column = 0; column < 30000; ++column)
    options.labels.push_back(
        {"a column of labels, number " + std::to_string(column), {}, std::vector<double>(400, 0.5 + column)});
  const std::string page = report_page(model, options);
  EXPECT_LT(page.size(), 6000000u);
  EXPECT_NE(page.find("Of 30000 columns of labels the page holds the first "), std::string::npos);
  options.labels.resize(5000);
  for (Labels& labels : options.labels) labels = {labels.name, std::vector<std::string>(400, std::string(200, '<')), {}};
  EXPECT_LT(report_page(model, options).size(), 6000000u);
  options.labels.resize(20);
  EXPECT_EQ(report_page(model, options).find("columns of labels the page holds"), std::string::npos);
}

TEST(ReportPage, ModelsAtTheEdgesHavePages) {
  Model model = small_model(3, 1);
  EXPECT_FALSE(report_page(model).empty());
  model.points = Table();
  model.residuals = {nan};
  model.eigenvalues = {-1e-9};
  model.provenance = "not JSON";
  Probe probe;
  probe.beta = 1;
  probe.n_eff = probe.d_hat = probe.v = nan;
  model.sweep = {probe};
  EXPECT_FALSE(report_page(model).empty());
}

TEST(ReportPage, RefusesWhatItCannotShow) {
  const auto refused = [](const Model& model, const ReportOptions& options = {}) {
    try {
      report_page(model, options);
    } catch (const Error& error) {
      return error.kind() == Failure::misuse;
    }
    return false;
  };
  EXPECT_TRUE(refused(Model{}));
  Model model = small_model();
  EXPECT_FALSE(refused(model));
  EXPECT_TRUE(refused(model, {"", {{"short", {"a"}, {}}}, 100}));
  EXPECT_TRUE(refused(model, {"", {{"none", {}, {}}}, 100}));
  EXPECT_TRUE(refused(model, {"", {{"both", std::vector<std::string>(12, "a"), std::vector<double>(12)}}, 100}));
  EXPECT_TRUE(refused(model, {"", {}, 0}));
  model.q.clear();
  EXPECT_TRUE(refused(model));
}

}  // namespace
}  // namespace fd
