// Which tiles of a pass hold an entry that counts: a map made once for a bandwidth and what is negligible there, and read by every pass,
// a bit a tile in the order of the schedule. Nothing is tested inside a pass, and nothing at all where no two rows are far enough apart.
//
// Guarantees: a tile that does not survive has no entry at or above 2^least_exponent (panel_bounds.hpp). A function of the points, the bandwidth
// and what is negligible, and not of the number of threads. Does not know: why an entry may be left out.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/cpu/panel_bounds.hpp"
#include "backends/cpu/schedule.hpp"
#include "base/team.hpp"

namespace fd::cpu {

class SurvivingTiles {
 public:
  // For tiles whose rows all lie further apart than `distance` to be left out. Maps that were made before are found again.
  template <class AnySchedule>
  void begin(PanelBounds& x, PanelBounds& z, const AnySchedule& schedule, double distance, Team& team,
             const std::function<void()>& poll = {});

  const std::uint64_t* of_task(std::size_t task) const {  // null: all survive
    return current_ == nullptr || current_->all ? nullptr : current_->bits.data() + current_->first[task];
  }

 private:
  struct Map {
    std::uint64_t x = 0, z = 0;  // checksums of the points
    double distance = -1;
    std::size_t tasks = 0;
    bool all = false;
    std::vector<std::size_t> first;  // [task]: its first word
    std::vector<std::uint64_t> bits;
  };
  template <class AnySchedule>
  static void make(Map& map, const PanelBounds& x, const PanelBounds& z, const AnySchedule& schedule, Team& team, double distance,
                   const std::function<void()>& poll);

  static constexpr std::size_t most_maps = 3;  // of the mass, of exact and of low-precision passes
  std::vector<Map> maps_;
  std::size_t next_ = 0;
  const Map* current_ = nullptr;
};

}  // namespace fd::cpu
