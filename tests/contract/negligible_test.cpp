// Entries that a caller calls negligible may be left out, and no others: no row of K loses more than N times the size that was named.
#include <gtest/gtest.h>

#include <cmath>
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
  const std::size_t n = 600;
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
    auto in = backend.panel(points.rows(), 2, points.precision()), out = backend.panel(points.rows(), 2, points.precision());
    const std::vector<double> ones(2 * points.rows(), 1.0);
    backend.upload(&points, ones.data(), *in);
    if (mass) backend.mass(beta, points, *out, nullptr, negligible);
    else backend.xgemm(beta, points, *in, *out, nullptr, {}, negligible);
    std::vector<double> host(2 * points.rows());
    backend.download(&points, *out, host.data());
    return host;
  }
};

TEST_P(Negligible, RowsLoseNoMoreThanWasAllowed) {
  for (const Spread& spread : spreads())
    for (const std::optional<std::size_t> keep : {std::optional<std::size_t>(), std::optional<std::size_t>(10000000)}) {
      const auto backend = GetParam().make(2, keep);
      ViewSource source(PointsView(spread.data.x.data(), spread.data.rows, spread.data.dimension));
      const auto points = backend->load(source, GetParam().precision);
      for (const bool mass : {false, true})
        for (const double negligible : {1e-12, 1e-5, 1e-3}) {
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

INSTANTIATE_TEST_SUITE_P(Everywhere, Negligible, testing::ValuesIn(every_backend({Precision::fp32, Precision::fp64})),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
