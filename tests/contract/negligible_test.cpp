// Entries that a caller calls negligible may be left out, and no others: no row of K loses more than N times the size that was named.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "contract/every_backend.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

struct Spread {
  const char* name;
  Dataset data;
  double beta;
};

std::vector<Spread> spreads() {
  const std::size_t n = Case::rows(600);
  const auto clusters =
      table_of(n, 3, [](std::size_t i, std::size_t c) { return normal_at(1, 0, i, c) + (c == 0 ? 12.0 * double(i % 5) : 0); });
  const auto duplicates = table_of(n, 2, [](std::size_t i, std::size_t c) { return normal_at(2, 0, i % 50, c) * 9; });
  const auto outliers =
      table_of(n, 4, [](std::size_t i, std::size_t c) { return normal_at(3, 0, i, c) * (i % 40 == 0 ? 15 : 1); });
  const auto line = table_of(n, 1, [](std::size_t i, std::size_t) { return 40 * uniform_at(4, 0, i); });
  const auto plane = table_of(n, 50, [](std::size_t i, std::size_t c) {
    return 30 * (uniform_at(5, 0, i) * normal_at(5, 1, c) + uniform_at(5, 2, i) * normal_at(5, 3, c)) / 7;
  });
  return {{"clusters", clusters, 0.5},
          {"duplicates", duplicates, 0.3},
          {"outliers", outliers, 0.3},
          {"line", line, 1.0},
          {"plane", plane, 0.3}};
}

class Negligible : public testing::TestWithParam<Case> {
 protected:
  static std::vector<double> sums(Backend& backend, const Points& points, double beta, bool mass, double negligible) {
    auto in = backend.panel(points.layout(), 2, points.precision()), out = backend.panel(points.layout(), 2, points.precision());
    const std::vector<double> ones(2 * points.rows(), 1.0);
    backend.upload(ones.data(), *in);
    if (mass) backend.mass(beta, points, *out, nullptr, negligible);
    else backend.xgemm(beta, points, *in, *out, nullptr, {}, negligible);
    std::vector<double> host(2 * points.rows());
    backend.download(*out, host.data());
    return host;
  }
};

TEST_P(Negligible, RowsLoseNoMoreThanWasAllowed) {
  for (const Spread& spread : spreads())
    for (const auto& keep : Case::some<std::optional<std::size_t>>({{}, std::size_t{10000000}}, 2)) {
      const auto backend = GetParam().make(2, keep);
      ViewSource source(PointsView(spread.data.x.data(), spread.data.rows, spread.data.dimension));
      const auto points = backend->load(source, GetParam().precision);
      for (const bool mass : {false, true})
        for (const double negligible : Case::some<double>({1e-12, 1e-5, 1e-3}, 2)) {
          const auto all = sums(*backend, *points, spread.beta, mass, 0),
                     some = sums(*backend, *points, spread.beta, mass, negligible);
          const double allowed = negligible * static_cast<double>(points->rows()),
                       rounding = traits(GetParam().precision).row_error;
          for (std::size_t i = 0; i < all.size(); i += 2) {
            EXPECT_LE(some[i], all[i] * (1 + rounding)) << spread.name;
            EXPECT_GE(some[i], all[i] * (1 - rounding) - allowed) << spread.name << " " << negligible;
          }
        }
    }
}

// Far from the origin the centres of panels are rounded by more than the points of neighbouring panels are apart.
TEST_P(Negligible, NothingIsLeftOutForTheRoundingOfItsPlace) {
  const double step = 1.05, beta = step * step / (2 * std::numbers::log2e);
  const std::size_t columns = 17, rows = Case::slow() ? 40 : 240;
  std::vector<double> place;
  for (double c = std::floor(16777216 / step) + 2; place.size() < columns; ++c)
    if (static_cast<double>(static_cast<float>(step * (c + 1)) - static_cast<float>(step * c)) > 1.5 * step) place.push_back(c);
  const Dataset data = table_of(4 * rows, columns, [&](std::size_t i, std::size_t c) {
    return (i / rows < 2 ? 1.0 : -1.0) * (place[c] + static_cast<double>(i / rows % 2));
  });
  const auto backend = GetParam().make(1);
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  const auto points = backend->load(source, GetParam().precision);
  const double entry = std::exp(-beta * static_cast<double>(columns)), expected = static_cast<double>(rows) * (1 + entry) - 1;
  const auto found = sums(*backend, *points, beta, true, 1e-9);
  for (std::size_t i = 0; i < data.rows; ++i) EXPECT_NEAR(found[2 * i], expected, 1e-5 * expected) << i;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Negligible, testing::ValuesIn(every_backend({Precision::fp32, Precision::fp64})),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
