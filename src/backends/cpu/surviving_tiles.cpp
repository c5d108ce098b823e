#include "backends/cpu/surviving_tiles.hpp"

#include <atomic>

namespace fd::cpu {

void SurvivingTiles::begin(PanelBounds& bounds, const Schedule& schedule, double distance, Team& team) {
  current_ = nullptr;
  if (!(bounds.diameter() > distance)) return;
  bounds.prepare(team);
  for (const Map& map : maps_)
    if (map.points == bounds.identity() && map.distance == distance) current_ = &map;
  if (current_ != nullptr) return;
  Map& map = maps_[next_++ % maps_.size()];
  map.points.reset();  // until all is done
  map.distance = distance;
  make(map, bounds, schedule, team);
  map.points = bounds.identity();
  current_ = &map;
}

// Blocks of panels first: most pairs of blocks that are far apart need no look at their tiles.
void SurvivingTiles::make(Map& map, const PanelBounds& bounds, const Schedule& schedule, Team& team) {
  std::vector<PanelBounds::Box> box;
  for (std::size_t b = 0; b < schedule.blocks(); ++b)
    box.push_back(bounds.around(schedule.block(b).first, schedule.block(b).last));
  map.first.assign(1, 0);
  for (std::size_t index = 0; index < schedule.tasks(); ++index)
    map.first.push_back(map.first.back() + (schedule.tiles_of(schedule.task(index)) + 63) / 64);
  map.bits.assign(map.first.back(), 0);
  std::atomic<bool> all{true};
  team.run(schedule.tasks(), [&](std::size_t index, int) {
    const Schedule::Task task = schedule.task(index);
    if (schedule.tiles_of(task) == 0) return;
    if (bounds.apart(box[task.first], box[task.second], map.distance)) return all.store(false, std::memory_order_relaxed);
    std::uint64_t* const bits = map.bits.data() + map.first[index];
    std::size_t tile = 0;
    schedule.each_tile(task, [&](std::size_t p, std::size_t q) {
      if (p == q || !bounds.apart(p, q, map.distance)) bits[tile / 64] |= std::uint64_t{1} << (tile % 64);
      else all.store(false, std::memory_order_relaxed);
      ++tile;
    });
  });
  map.all = all.load();
}

}  // namespace fd::cpu
