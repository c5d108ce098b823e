// Rows of two ranks: points travel, whole or in parts, and both directions come from one evaluation of the tiles. Whoever is host, and however the visitor is
// cut, sums are those of the reference back-end, to what the precision promises.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/archive.hpp"
#include "contract/every_backend.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

constexpr double beta = 0.3;

std::vector<double> positive(std::size_t count, std::uint64_t stream) {
  std::vector<double> w(count);
  for (std::size_t i = 0; i < count; ++i) w[i] = static_cast<float>(0.1 + std::abs(Random(5, stream).normal(i)));
  return w;
}

// Points of a rank, with what they bring and what they take home.
struct Shard {
  Shard(Backend& backend, const Dataset& data, std::size_t columns, Precision precision, std::uint64_t stream) {
    ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
    points = backend.load(source, precision);
    w = backend.panel(points->layout(), columns, precision);
    y = backend.panel(points->layout(), columns, precision);
    backend.upload(positive(data.rows * columns, stream).data(), *w);
    backend.upload(std::vector<double>(data.rows * columns, 0.0).data(), *y);
  }
  std::vector<double> sums(Backend& backend) const {
    std::vector<double> host(points->rows() * y->columns());
    backend.download(*y, host.data());
    return host;
  }
  std::unique_ptr<Points> points;
  std::unique_ptr<Panel> w, y;
};

class Visitors : public testing::TestWithParam<Case> {
 protected:
  // `guest` visits `host` in so many parts; sums of both are added to what they have.
  void visit(const Shard& host, const Shard& guest, std::size_t parts, Share share, bool mass) {
    for (std::size_t part = 0; part < parts; ++part) {
      const Places places = backend->places(*guest.points, part, parts);
      const auto bytes = archived([&](Archive& to) {
        backend->send_points(*guest.points, places, to);
        backend->send_rows(*guest.w, places, to);
      });
      ArchiveReader from(bytes.data(), bytes.size());
      const auto points = backend->visitor(from);
      ASSERT_EQ(points->rows(), places.count);
      const auto w = backend->panel(points->layout(), guest.w->columns(), precision);
      const auto y = backend->panel(points->layout(), guest.w->columns(), precision);
      backend->receive_rows(from, *w, {0, places.count}, false);
      backend->upload(std::vector<double>(places.count * guest.w->columns(), 0.0).data(), *y);
      const Turn turn{part == 0, part + 1 == parts};
      if (mass) backend->mass_pair(beta, *host.points, *points, *host.y, *y, share, nullptr, 0, turn);
      else backend->xgemm_pair(beta, *host.points, *points, *host.w, *w, *host.y, *y, share, nullptr, {}, 0, turn);
      const auto home = archived([&](Archive& to) { backend->send_rows(*y, {0, places.count}, to); });
      ArchiveReader reader(home.data(), home.size());
      backend->receive_rows(reader, *guest.y, places, true);
    }
  }
  // A back-end that does not cut points sends all of them.
  std::size_t parts_of(const Shard& shard, std::size_t wanted) const {
    return backend->places(*shard.points, 0, wanted).count == shard.points->rows() ? 1 : wanted;
  }
  void expect_near(const std::vector<double>& sums, const std::vector<double>& wanted) const {
    ASSERT_EQ(sums.size(), wanted.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_NEAR(sums[i], wanted[i], 2 * traits(precision).row_error * wanted[i] + 1e-30) << i;
  }

  std::unique_ptr<Backend> backend = GetParam().make(), oracle = make_oracle();
  Precision precision = GetParam().precision;
};

TEST_P(Visitors, BothDirectionsWhoeverIsHost) {
  const Dataset a = make_table("normal", Case::rows(900), 3, 7), b = make_table("normal", Case::rows(1100), 3, 8);
  for (const bool mass : {false, true})
    for (const std::size_t columns : mass ? std::vector<std::size_t>{2} : std::vector<std::size_t>{3, 17}) {
      Shard oracle_a(*oracle, a, columns, precision, 1), oracle_b(*oracle, b, columns, precision, 2);
      if (mass) oracle->mass_pair(beta, *oracle_a.points, *oracle_b.points, *oracle_a.y, *oracle_b.y, Share::all, nullptr);
      else
        oracle->xgemm_pair(beta, *oracle_a.points, *oracle_b.points, *oracle_a.w, *oracle_b.w, *oracle_a.y, *oracle_b.y,
                           Share::all, nullptr);
      for (const std::size_t wanted : {1, 2, 3})
        for (const bool shared : {false, true}) {
          SCOPED_TRACE(wanted);
          const Shard here(*backend, a, columns, precision, 1), there(*backend, b, columns, precision, 2);
          visit(here, there, parts_of(there, wanted), shared ? Share::even : Share::all, mass);
          if (shared) visit(there, here, parts_of(here, wanted), Share::odd, mass);
          expect_near(here.sums(*backend), oracle_a.sums(*oracle));
          expect_near(there.sums(*backend), oracle_b.sums(*oracle));
        }
    }
}

std::vector<Case> without_ranks() {
  std::vector<Case> cases = every_backend({Precision::fp64, Precision::fp32});
  std::erase_if(cases, [](const Case& one) { return one.ranks > 1; });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Backends, Visitors, testing::ValuesIn(without_ranks()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace fd::test
