// Tiles that are left out: no row of one panel is near a row of the other, by the distances themselves; and none that is clearly apart stays.
#include "backends/cpu/surviving_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/packed_points.hpp"
#include "support/structured_tables.hpp"

namespace fd::test {
namespace {

using cpu::CpuPoints;
using cpu::Schedule;
using cpu::SurvivingTiles;

struct Named {
  std::string name;
  Dataset data;
  double distance;
};

std::vector<Named> tables() {
  const auto line = table_of(3000, 1, [](std::size_t i, std::size_t) { return 100 * uniform_at(1, 0, i); });
  const auto sheet = table_of(4000, 3, [](std::size_t i, std::size_t c) {
    const double t = 10 * uniform_at(2, 0, i);
    return c == 0 ? t * std::cos(t) : c == 1 ? t * std::sin(t) : 20 * uniform_at(2, 1, i);
  });
  // a plane in many columns, none of them its own: boxes along directions that have to be found
  const auto plane = table_of(13000, 30, [](std::size_t i, std::size_t c) {
    return 9 * (uniform_at(3, 0, i) * normal_at(3, 1, c) + uniform_at(3, 2, i) * normal_at(3, 3, c)) +
           0.05 * normal_at(3, 4, i, c);
  });
  const auto clusters = table_of(
      1920, 12, [](std::size_t i, std::size_t c) { return normal_at(4, 0, i, c) + (c == 0 ? 30.0 * double(i % 4) : 0.0); });
  const auto far = table_of(1000, 2, [](std::size_t i, std::size_t c) { return 1e9 * double(i % 7) + normal_at(5, 0, i, c); });
  return {{"line", line, 3}, {"sheet", sheet, 4}, {"plane", plane, 20}, {"clusters", clusters, 15}, {"far", far, 10}};
}

TEST(SurvivingTiles, OnlyPanelsThatAreApartAreLeftOutAndMostOfThese) {
  for (const auto& [name, data, distance] : tables()) {
    ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
    const CpuPoints<float> points(source, Precision::fp32, {});
    Team team(2);
    const auto& packed = points.packed(1, 1, points.wants_local(1), false, team);
    const Schedule schedule(packed.panels);
    SurvivingTiles survivors;
    survivors.begin(*packed.bounds, *packed.bounds, schedule, distance, team);
    const auto nearest = [&](std::size_t p, std::size_t q) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = packed.first_row[p]; i < packed.first_row[p + 1]; ++i)
        for (std::size_t j = packed.first_row[q]; j < packed.first_row[q + 1]; ++j) {
          double square = 0;
          for (std::size_t c = 0; c < data.dimension; ++c) {
            const std::size_t a = points.layout()->row(i), b = points.layout()->row(j);
            square += std::pow(data.x[a * data.dimension + c] - data.x[b * data.dimension + c], 2);
          }
          least = std::min(least, square);
        }
      return std::sqrt(least);
    };
    const std::size_t step = packed.panels > 100 ? 23 : 1;
    std::size_t seen = 0, left_out = 0, apart = 0;
    for (std::size_t index = 0; index < schedule.tasks(); ++index) {
      const std::uint64_t* bits = survivors.of_task(index);
      ASSERT_NE(bits, nullptr) << name;
      std::size_t tile = 0;
      schedule.each_tile(schedule.task(index), [&](std::size_t p, std::size_t q) {
        const bool survives = (bits[tile / 64] >> (tile % 64) & 1) != 0;
        ++tile;
        if (seen++ % step != 0) return;  // the distances of all would take long
        const double between = nearest(p, q);
        if (!survives) ++left_out;
        if (between > 2 * distance) ++apart;
        EXPECT_TRUE(survives || between > distance) << name << ", panels " << p << " and " << q << ": " << between;
      });
      EXPECT_EQ(tile, schedule.tiles_of(schedule.task(index)));
    }
    EXPECT_GT(left_out, 0u) << name;
    EXPECT_GT(2 * left_out, apart) << name;
  }
}

TEST(SurvivingTiles, NothingIsMappedWhereNothingCanBeLeftOut) {
  const Dataset data = table_of(500, 3, [](std::size_t i, std::size_t c) { return normal_at(1, 0, i, c); });
  ViewSource source(PointsView(data.x.data(), data.rows, data.dimension));
  const CpuPoints<double> points(source, Precision::fp64, {});
  Team team(1);
  const auto& packed = points.packed(1, 1, points.wants_local(1), false, team);
  const Schedule schedule(packed.panels);
  SurvivingTiles survivors;
  for (const double distance : {20.0, std::numeric_limits<double>::infinity()}) {
    survivors.begin(*packed.bounds, *packed.bounds, schedule, distance, team);
    EXPECT_EQ(survivors.of_task(0), nullptr);
    EXPECT_FALSE(packed.bounds->prepared()) << "boxes were measured for nothing";
  }
}

TEST(SurvivingTiles, OneMapForAnyNumberOfThreads) {
  const Named table = tables()[1];
  ViewSource source(PointsView(table.data.x.data(), table.data.rows, table.data.dimension));
  const CpuPoints<float> points(source, Precision::fp32, {});
  std::vector<std::vector<std::uint64_t>> maps;
  for (const int threads : {1, 2, 3}) {
    Team team(threads);
    const auto& packed = points.packed(1, 1, points.wants_local(1), false, team);
    const Schedule schedule(packed.panels);
    SurvivingTiles survivors;
    survivors.begin(*packed.bounds, *packed.bounds, schedule, table.distance, team);
    std::vector<std::uint64_t> all;
    for (std::size_t index = 0; index < schedule.tasks(); ++index)
      all.insert(all.end(), survivors.of_task(index),
                 survivors.of_task(index) + (schedule.tiles_of(schedule.task(index)) + 63) / 64);
    maps.push_back(all);
  }
  EXPECT_EQ(maps[0], maps[1]);
  EXPECT_EQ(maps[0], maps[2]);
}

}  // namespace
}  // namespace fd::test
