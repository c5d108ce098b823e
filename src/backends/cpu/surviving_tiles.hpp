// Which tiles of a symmetric pass hold an entry that counts: a map made once for a bandwidth and what is negligible there, and read by every pass,
// a bit a tile in the order of the schedule. Nothing is tested inside a pass, and nothing at all where no two rows are far enough apart.
//
// Guarantees: a tile that does not survive has no entry at or above 2^least_exponent (panel_bounds.hpp). A function of the points, the bandwidth
// and what is negligible, and not of the number of threads. Does not know: why an entry may be left out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/panel_bounds.hpp"
#include "backends/cpu/schedule.hpp"
#include "base/team.hpp"

namespace fd::cpu {

class SurvivingTiles {
 public:
  // For tiles whose rows all lie further apart than `distance` to be left out. Maps that were made before are found again.
  void begin(PanelBounds& bounds, const Schedule& schedule, double distance, Team& team);

  const std::uint64_t* of_task(std::size_t task) const {  // null: all survive
    return current_ == nullptr || current_->all ? nullptr : current_->bits.data() + current_->first[task];
  }

 private:
  struct Map {
    std::shared_ptr<const int> points;
    double distance = 0;
    bool all = false;
    std::vector<std::size_t> first;  // [task]: its first word
    std::vector<std::uint64_t> bits;
  };
  static void make(Map& map, const PanelBounds& bounds, const Schedule& schedule, Team& team);

  std::array<Map, 3> maps_;  // of the mass, of exact and of low-precision passes
  std::size_t next_ = 0;
  const Map* current_ = nullptr;
};

}  // namespace fd::cpu
