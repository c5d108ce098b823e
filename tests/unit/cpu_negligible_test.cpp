// That the cpu back-end leaves out what it may: tiles far apart cost no time, so the sums show which entries are missing.
#include <gtest/gtest.h>

#include <vector>

#include "device/backend.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

TEST(CpuNegligible, TilesFarApartAreLeftOut) {
  const Dataset data = table_of(480, 2, [](std::size_t i, std::size_t c) {
    return 0.1 * normal_at(1, 0, i, c) + (c == 0 && i % 2 == 1 ? 4.0 : 0.0);  // exp(-16) from one half to the other
  });
  const auto backend = make_backend({"cpu", "", 1});
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  const auto points = backend->load(source, Precision::fp64);
  auto sums = backend->panel(points->layout(), 2, Precision::fp64);
  std::vector<double> all(2 * data.rows), some(2 * data.rows);
  backend->mass(1, *points, *sums, nullptr);
  backend->download(*sums, all.data());
  backend->mass(1, *points, *sums, nullptr, 1e-4);
  backend->download(*sums, some.data());
  for (std::size_t i = 0; i < data.rows; ++i) EXPECT_GT(all[2 * i] - some[2 * i], 1e-9 * all[2 * i]) << i;
}

}  // namespace
}  // namespace fd::test
