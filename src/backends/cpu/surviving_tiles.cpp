#include "backends/cpu/surviving_tiles.hpp"

#include <atomic>

namespace fd::cpu {

template <class AnySchedule>
void SurvivingTiles::begin(PanelBounds& x, PanelBounds& z, const AnySchedule& schedule, double distance, Team& team,
                           const std::function<void()>& poll) {
  current_ = nullptr;
  if (!(x.diameter() > distance)) return;
  x.prepare(team);
  if (&z != &x) z.prepare(team, &x);
  maps_.resize(most_maps);
  for (const Map& map : maps_)
    if (map.x == x.content() && map.z == z.content() && map.distance == distance && map.tasks == schedule.tasks())
      current_ = &map;
  if (current_ != nullptr) return;
  Map& map = maps_[next_++ % maps_.size()];
  map.distance = -1;  // until all is done
  map.x = x.content();
  map.z = z.content();
  map.tasks = schedule.tasks();
  make(map, x, z, schedule, team, distance, poll);
  map.distance = distance;
  current_ = &map;
}

// Blocks of panels first: most pairs of blocks that are far apart need no look at their tiles.
template <class AnySchedule>
void SurvivingTiles::make(Map& map, const PanelBounds& x, const PanelBounds& z, const AnySchedule& schedule, Team& team,
                          double distance, const std::function<void()>& poll) {
  const bool same = &x == &z;
  std::vector<PanelBounds::Box> box;
  for (std::size_t b = 0; b < schedule.blocks(); ++b)
    box.push_back((schedule.of_x(b) ? x : z).around(schedule.block(b).first, schedule.block(b).last));
  map.first.assign(1, 0);
  for (std::size_t index = 0; index < schedule.tasks(); ++index)
    map.first.push_back(map.first.back() + (schedule.tiles_of(schedule.task(index)) + 63) / 64);
  map.bits.assign(map.first.back(), 0);
  std::atomic<bool> all{true};
  const auto look = [&](std::size_t index, int) {
    const BlockTask task = schedule.task(index);
    if (schedule.tiles_of(task) == 0) return;
    if (x.apart(box[task.first], box[task.second], distance)) return all.store(false, std::memory_order_relaxed);
    std::uint64_t* const bits = map.bits.data() + map.first[index];
    std::size_t tile = 0;
    schedule.each_tile(task, [&](std::size_t p, std::size_t q) {
      if ((same && p == q) || !x.apart(p, z, q, distance)) bits[tile / 64] |= std::uint64_t{1} << (tile % 64);
      else all.store(false, std::memory_order_relaxed);
      ++tile;
    });
  };
  team.run(schedule.tasks(), look, poll);
  map.all = all.load();
  if (map.all) map.first = {}, map.bits = {};
}

template void SurvivingTiles::begin(PanelBounds&, PanelBounds&, const Schedule&, double, Team&, const std::function<void()>&);
template void SurvivingTiles::begin(PanelBounds&, PanelBounds&, const PairSchedule&, double, Team&, const std::function<void()>&);

}  // namespace fd::cpu
