// The tall-block verbs of every back-end × instruction set × precision against the reference. Tolerances: Gram sums are carried in
// fp64, so they are right to fp64 rounding of the panel's own values; combinations round once a term in the panel's arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "contract/every_backend.hpp"

namespace fd::test {
namespace {

class TallBlock : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Backend> tested = GetParam().make();
  std::unique_ptr<Backend> oracle = make_oracle();
  Precision precision = GetParam().precision;
  double unit = precision == Precision::fp64 ? 1.2e-16 : 6e-8;

  // Numbers are drawn once for all tests: they take longer than what is tested.
  std::vector<double> values(std::size_t count, std::uint64_t stream) {
    static std::map<std::uint64_t, std::vector<double>> drawn;
    std::vector<double>& known = drawn[stream];
    while (known.size() < count) known.push_back(Random(9, stream).normal(known.size()));
    std::vector<double> v(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(count));
    if (precision != Precision::fp64)
      for (double& value : v) value = static_cast<float>(value);
    return v;
  }
  std::unique_ptr<Panel> filled(Backend& backend, std::size_t rows, std::size_t columns, std::uint64_t stream) {
    auto panel = backend.panel(plain_layout(rows), columns, precision);
    backend.upload(values(rows * columns, stream).data(), *panel);
    return panel;
  }
};

TEST_P(TallBlock, Gram) {
  for (const std::size_t rows :
       {std::size_t{1}, std::size_t{48}, std::size_t{129}, Case::slow() ? std::size_t{1100} : std::size_t{5000}})
    for (const auto& [na, nb] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {3, 5}, {2, 2}, {1, 9}, {97, 1}, {130, 2}, {2, 75}, {49, 17}, {100, 64}}) {
      Eigen::MatrixXd g[2];
      for (int which = 0; which < 2; ++which) {
        Backend& backend = which == 0 ? *tested : *oracle;
        auto a = filled(backend, rows, na + 3, 1), b = filled(backend, rows, nb + 1, 2);
        g[which] = backend.gram({*a, 2, na}, {*b, 1, nb});
      }
      // a sum of `rows` products of size one: |error| <= rows * unit of fp64 * a few
      EXPECT_LE((g[0] - g[1]).cwiseAbs().maxCoeff(), 1e-15 * static_cast<double>(rows) + 1e-14) << rows << " " << na << " " << nb;
    }
}

TEST_P(TallBlock, CombineReplacesAndAccumulates) {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{47}, Case::slow() ? std::size_t{301} : std::size_t{4001}})
    for (const auto& [na, ny] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {5, 3}, {2, 2}, {8, 1}, {9, 2}, {64, 1}, {77, 2}, {70, 33}})
      for (const bool accumulate : {false, true}) {
        const Eigen::MatrixXd s = Eigen::MatrixXd::Random(static_cast<Eigen::Index>(na), static_cast<Eigen::Index>(ny));
        std::vector<double> y[2];
        for (int which = 0; which < 2; ++which) {
          Backend& backend = which == 0 ? *tested : *oracle;
          auto a = filled(backend, rows, na + 2, 3), out = filled(backend, rows, ny + 2, 4);
          backend.combine({*a, 1, na}, s, {*out, 2, ny}, accumulate);
          y[which].resize(rows * (ny + 2));
          backend.download(*out, y[which].data());
        }
        // na products, each of size at most five or so, rounded once a term
        for (std::size_t i = 0; i < y[0].size(); ++i) ASSERT_NEAR(y[0][i], y[1][i], 5 * unit * static_cast<double>(na + 2));
      }
}

TEST_P(TallBlock, CombineInPlace) {
  for (const auto& [na, ny] : {std::pair<std::size_t, std::size_t>{21, 8}, {21, 2}, {7, 1}, {2, 2}}) {
    const std::size_t rows = 333;
    const Eigen::MatrixXd s = Eigen::MatrixXd::Random(static_cast<Eigen::Index>(na), static_cast<Eigen::Index>(ny));
    auto a = filled(*tested, rows, na, 5), apart = filled(*tested, rows, na, 5),
         out = tested->panel(plain_layout(rows), ny, precision);
    tested->combine(*apart, s, *out, false);
    tested->combine(*a, s, {*a, 0, ny}, false);
    std::vector<double> want(rows * ny), got(rows * ny);
    tested->download(*out, want.data());
    tested->download({*a, 0, ny}, got.data());
    EXPECT_EQ(want, got);
  }
}

// What lies behind a window of columns does not reach what is made of it, NaN and infinity included.
TEST_P(TallBlock, OtherColumnsOfThePanelDoNotMatter) {
  const std::size_t rows = 61, all = 40;
  for (const std::size_t used : {1, 2, 9, 17, 33})
    for (const std::size_t ny : {1, 2, 3}) {
      const Eigen::MatrixXd s = Eigen::MatrixXd::Random(static_cast<Eigen::Index>(used), static_cast<Eigen::Index>(ny));
      std::vector<double> host = values(rows * all, 8), clean = host, y[2];
      for (std::size_t i = 0; i < host.size(); ++i)
        if (i % all >= used) host[i] = i % 2 == 0 ? std::nan("") : std::numeric_limits<double>::infinity();
      Eigen::MatrixXd g[2];
      for (int which = 0; which < 2; ++which) {
        auto a = tested->panel(plain_layout(rows), all, precision), b = filled(*tested, rows, ny, 9),
             out = tested->panel(plain_layout(rows), ny, precision);
        tested->upload((which == 0 ? host : clean).data(), *a);
        g[which] = tested->gram({*a, 0, used}, *b);
        tested->combine({*a, 0, used}, s, *out, false);
        y[which].resize(rows * ny);
        tested->download(*out, y[which].data());
      }
      EXPECT_EQ(g[0], g[1]) << used << " " << ny;
      EXPECT_EQ(y[0], y[1]) << used << " " << ny;
    }
}

TEST_P(TallBlock, RowsScaledRandomAndOrdered) {
  const std::size_t rows = 1000, columns = 5;
  std::vector<double> got(rows * columns), want(rows * columns);
  for (auto* backend : {tested.get(), oracle.get()}) {
    auto a = filled(*backend, rows, columns, 6), s = filled(*backend, rows, 1, 7);
    backend->scale_rows(*s, *a, *a);
    backend->multiply_add(*s, *a, *a);
    backend->download(*a, backend == tested.get() ? got.data() : want.data());
  }
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 8 * unit * (1 + std::abs(want[i])));

  for (auto* backend : {tested.get(), oracle.get()}) {
    auto a = backend->panel(plain_layout(rows), columns, precision);
    backend->randomize(*a, 17, 3);
    backend->download(*a, backend == tested.get() ? got.data() : want.data());
  }
  // the same but for the last bit: a logarithm and a cosine need not be the C library's
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 2 * unit * (1 + std::abs(want[i])));
}

TEST_P(TallBlock, UploadAndDownloadKeepTheOrderOfTheSource) {
  const std::size_t rows = 300;
  const auto x = values(rows * 2, 8), column = values(rows, 9);
  ViewSource source(PointsView(x.data(), rows, 2));
  const auto points = tested->load(source, precision);
  auto a = tested->panel(points->layout(), 1, precision);
  tested->upload(column.data(), *a);
  std::vector<double> back(rows);
  tested->download(*a, back.data());
  EXPECT_EQ(column, back);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, TallBlock, testing::ValuesIn(every_backend({Precision::fp32, Precision::fp64})),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
