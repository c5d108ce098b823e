// Exponents of tiles, kept from pass to pass: x_i.x_j does not depend on the pass, and on the bandwidth by a factor alone, which exp2 takes
// with its first multiply-add. Where there is one bandwidth only, entries are kept instead, and exp2 is saved as well. A tile is made by the first pass that needs it and read by all others; what there is no room for is made
// anew each time, by the same arithmetic: results are the same bits whatever is kept.
//
// One store serves the points that were used last, or a pair of them: those of another packing take the memory over. A task's tiles lie together, in
// the order in which the task visits them, and tasks have room in the order of the schedule.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "backends/cpu/packed_points.hpp"
#include "backends/cpu/schedule.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "base/aligned_buffer.hpp"

namespace fd::cpu {

// From this many columns on reading a tile back is clearly quicker than making it.
inline constexpr std::size_t columns_worth_keeping = 24;

// Entries are quicker still: from fewer columns on, and whatever the columns where they stay in the processor's cache.
inline constexpr std::size_t columns_worth_keeping_entries = 8, rows_in_cache = 2048;

enum class Keeping { nothing, exponents, entries };

inline Keeping keeping(std::size_t rows, std::size_t columns, bool one_bandwidth) {
  if (one_bandwidth && (columns >= columns_worth_keeping_entries || rows <= rows_in_cache)) return Keeping::entries;
  return columns >= columns_worth_keeping ? Keeping::exponents : Keeping::nothing;
}

// Whether tiles of low precision have no use: those of this many points are kept where memory is not scarce, and then cost the same. A rule that
// does not look at the memory there is, for the bits of a result depend on it.
inline bool kept_as_a_rule(std::size_t rows, std::size_t columns, std::size_t bytes_a_value, bool one_bandwidth) {
  constexpr double most_bytes = 4.3e9;
  const double n = static_cast<double>(rows);
  return keeping(rows, columns, one_bandwidth) != Keeping::nothing &&
         0.5 * n * n * static_cast<double>(bytes_a_value) <= most_bytes;
}

inline double bytes_of_all_tiles(std::size_t rows, std::size_t bytes_a_value) {
  const double panels = std::ceil(static_cast<double>(rows) / static_cast<double>(panel_rows));
  return 0.5 * panels * (panels + 1) * static_cast<double>(tile_entries * bytes_a_value + 1);
}

// What points are scaled for where tiles may be kept: the next power of 4, so that one set of tiles does for many bandwidths, or of as much
// as leaves the points their global centre.
template <class T>
double reference_beta(const CpuPoints<T>& points, double beta) {
  const auto next = [&](double octaves) { return std::exp2(octaves * std::ceil(std::log2(beta) / octaves)); };
  if (points.wants_local(beta)) return next(2);
  for (const double octaves : {2.0, 1.0, 0.5, 0.25})
    if (!points.wants_local(next(octaves))) return next(octaves);
  return beta;
}

template <class T>
class TileStore {
 public:
  explicit TileStore(bool one_bandwidth) : one_bandwidth_(one_bandwidth) {}

  // `room`: tiles there is memory for.
  template <class AnySchedule>
  void begin(const PackedPoints<T>& x, const PackedPoints<T>& z, const AnySchedule& schedule, std::size_t room) {
    keeping_ = x.coding.numbers == Numbers::floats && room > 0 && !refused_ ? keeping(x.of_rows, x.dimension, one_bandwidth_)
                                                                            : Keeping::nothing;
    if (keeping_ == Keeping::nothing) return;
    if (of_x_ == x.packing && of_z_ == z.packing && (keeping_ == Keeping::exponents || multiple_ == x.multiple)) return;
    of_x_ = x.packing;
    of_z_ = z.packing;
    multiple_ = x.multiple;
    first_.assign(1, 0);
    for (std::size_t index = 0; index < schedule.tasks(); ++index)
      first_.push_back(first_.back() + schedule.tiles_of(schedule.task(index)));
    const std::size_t tiles = std::min(room, first_.back());
    made_.assign(tiles, 0);
    try {
      values_.at_least(tiles * tile_entries);
    } catch (const Error&) {  // the memory was not there after all: nothing is kept
      refused_ = true;
      made_.clear();
    }
  }

  std::size_t tiles() const { return values_.size() / tile_entries; }  // that it has memory of
  void release() {
    of_x_ = of_z_ = {};
    made_.clear();
    values_ = {};
  }

  void put(std::size_t task, TaskTiles<T>& tiles) {
    if (keeping_ == Keeping::nothing || made_.empty() || first_[task + 1] > made_.size()) return;
    tiles.kept = values_.data() + first_[task] * tile_entries;
    tiles.made = made_.data() + first_[task];
    tiles.as_entries = keeping_ == Keeping::entries;
  }

 private:
  bool one_bandwidth_, refused_ = false;
  Keeping keeping_ = Keeping::nothing;
  Packing of_x_, of_z_;
  double multiple_ = 0;             // of the entries
  std::vector<std::size_t> first_;  // [task]: its first tile
  AlignedBuffer<T> values_;
  std::vector<std::uint8_t> made_;
};

}  // namespace fd::cpu
