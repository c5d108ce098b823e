// The order of work in a pass: the same for every number of threads, and no two tasks of a round touch the same rows.
//
// The panels are cut into blocks (how many depends on the number of panels alone). A symmetric pass visits every unordered pair of
// blocks once, as the rounds of a round-robin tournament: in a round each block appears once, so its sums belong to one task.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "backends/cpu/tile_pass.hpp"

namespace fd::cpu {

class Schedule {
 public:
  explicit Schedule(std::size_t panels) : panels_(panels) {
    // about 64 blocks of whole chunks, of 4 to 32 panels: a block of fewer would spend its time on sums at the edges
    block_ = std::clamp<std::size_t>((panels + 63) / 64, chunk_panels, 32);
    block_ = (block_ + chunk_panels - 1) / chunk_panels * chunk_panels;
    blocks_ = (panels + block_ - 1) / block_;
  }

  std::size_t blocks() const { return blocks_; }
  PanelRange block(std::size_t b) const { return {b * block_, std::min(panels_, (b + 1) * block_)}; }

  // Round 0 is the diagonal; then an even number of players, one of them resting when blocks() is odd.
  std::size_t rounds() const { return 1 + (blocks_ < 2 ? 0 : players() - 1); }
  std::size_t tasks(std::size_t round) const { return round == 0 ? blocks_ : players() / 2; }

  struct Pair {
    std::size_t first, second;
    bool rests;
  };
  Pair pair(std::size_t round, std::size_t task) const {
    if (round == 0) return {task, task, false};
    // circle method: player n-1 stays, the others turn
    const std::size_t turning = players() - 1, turn = round - 1;
    const std::size_t a = task == 0 ? turning : (turn + task) % turning;
    const std::size_t b = (turn + turning - task) % turning;
    return {std::min(a, b), std::max(a, b), a >= blocks_ || b >= blocks_};
  }

 private:
  std::size_t players() const { return (blocks_ + 1) / 2 * 2; }
  std::size_t panels_, block_ = 1, blocks_ = 1;
};

}  // namespace fd::cpu
