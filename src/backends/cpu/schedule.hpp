// The order of work in a pass: the same for every number of threads, and no two tasks at work touch the same rows.
//
// The panels are cut into blocks (how many depends on the number of panels alone). A symmetric pass visits every unordered pair of
// blocks once, as the rounds of a round-robin tournament: in a round each block appears once. Rounds do not wait for one another:
// a task waits for the last tasks of its own two blocks (`Turns`), so the sums of a block are added up in the order of rounds.
// A pass over two ranks' rows (`PairSchedule`) visits every block of the one with every block of the other in the same manner.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/tile_pass.hpp"
#include "base/wait_for_change.hpp"
#include "device/backend.hpp"

namespace fd::cpu {

// What both kinds of schedule hand out: two blocks, and how many tasks each has behind it by then. One that is not below blocks() stands for a rest.
struct BlockTask {
  std::size_t first, second, round, round_of_second;
};

// f(p, q) for the tiles of two blocks, in the order in which a task visits them (tile_kernels-inl.hpp).
template <class F>
void each_tile_of(PanelRange a, PanelRange b, bool diagonal, F&& f) {
  for (std::size_t first = b.first; first < b.last; first += chunk_panels) {
    const std::size_t last = std::min(b.last, first + chunk_panels);
    for (std::size_t p = a.first; p < (diagonal ? last : a.last); ++p)
      for (std::size_t q = diagonal ? std::max(first, p) : first; q < last; ++q) f(p, q);
  }
}

class Schedule {
 public:
  explicit Schedule(std::size_t panels) : panels_(panels) {
    // At most about 256 blocks, so that a hundred threads find work, of 8 to 32 panels in whole chunks, or of 4 where there would be fewer than four:
    // sums at the edges cost 1 % of a pass with 16 panels, 2 to 5 % with 8, 5 to 11 % with 4.
    block_ = std::clamp<std::size_t>((panels + 255) / 256, panels > 6 * chunk_panels ? 2 * chunk_panels : chunk_panels, 32);
    block_ = (block_ + chunk_panels - 1) / chunk_panels * chunk_panels;
    blocks_ = (panels + block_ - 1) / block_;
  }

  std::size_t blocks() const { return blocks_; }
  std::size_t panels_a_block() const { return block_; }
  PanelRange block(std::size_t b) const { return {b * block_, std::min(panels_, (b + 1) * block_)}; }
  static bool of_x(std::size_t) { return true; }

  // Of a symmetric pass. Round 0 is the diagonal; then an even number of players, one of them resting when blocks() is odd.
  std::size_t tasks() const { return blocks_ < 2 ? blocks_ : blocks_ + (players() - 1) * (players() / 2); }

  using Task = BlockTask;  // first <= second
  Task task(std::size_t index) const {
    if (index < blocks_) return {index, index, 0, 0};
    // circle method: player n-1 stays, the others turn
    const std::size_t pairs = players() / 2, turning = players() - 1;
    const std::size_t turn = (index - blocks_) / pairs, place = (index - blocks_) % pairs;
    const std::size_t a = place == 0 ? turning : (turn + place) % turning, b = (turn + turning - place) % turning;
    return {std::min(a, b), std::max(a, b), turn + 1, turn + 1};
  }

  // Tiles of a task, and f(p, q) for each.
  std::size_t tiles_of(const Task& task) const {
    if (task.second >= blocks_) return 0;
    const PanelRange a = block(task.first), b = block(task.second);
    const std::size_t rows = a.last - a.first, columns = b.last - b.first;
    return task.first == task.second ? rows * (rows + 1) / 2 : rows * columns;
  }
  template <class F>
  void each_tile(const Task& task, F&& f) const {
    if (task.second >= blocks_) return;
    each_tile_of(block(task.first), block(task.second), task.first == task.second, f);
  }

 private:
  std::size_t players() const { return (blocks_ + 1) / 2 * 2; }
  std::size_t panels_, block_ = 1, blocks_ = 1;
};

// Panels [first, first + panels) of the `of` that a rank has: a visitor, or a part of one that begins with a whole chunk.
struct VisitingPanels {
  std::size_t first, panels, of;
};

// Blocks of x are numbered first, those of z after them. A block of z is a chunk, so that a small part of a visitor still gives many threads work; sums of
// rows leave the cache once a chunk whatever its block is. In round t block i of the fewer meets block i + t of the more, counted in a circle. Tasks that do
// not belong to a share have no work: its squares are the blocks that either rank's whole points have, so that both ranks of a pair draw the same ones.
class PairSchedule {
 public:
  PairSchedule(std::size_t panels_x, VisitingPanels z, Share share)
      : x_(panels_x),
        z_(z),
        blocks_z_((z.panels + chunk_panels - 1) / chunk_panels),
        square_z_(Schedule(z.of).panels_a_block()),
        share_(share) {}

  std::size_t blocks() const { return x_.blocks() + blocks_z_; }
  bool of_x(std::size_t b) const { return b < x_.blocks(); }
  PanelRange block(std::size_t b) const {
    if (of_x(b)) return x_.block(b);
    const std::size_t first = (b - x_.blocks()) * chunk_panels;
    return {first, std::min(z_.panels, first + chunk_panels)};
  }
  std::size_t tasks() const { return x_.blocks() * blocks_z_; }

  BlockTask task(std::size_t index) const {
    const std::size_t fewer = std::min(x_.blocks(), blocks_z_), more = std::max(x_.blocks(), blocks_z_);
    const std::size_t round = index / fewer, i = index % fewer, j = (i + round) % more;
    // block j met j, j - 1, ..., 0 and then fewer - 1, ..., j + 1
    const std::size_t met = i <= j && j < fewer ? j - i : j < fewer ? j + fewer - i : fewer - 1 - i;
    if (x_.blocks() <= blocks_z_) return {i, x_.blocks() + j, round, met};
    return {j, x_.blocks() + i, met, round};
  }
  std::size_t tiles_of(const BlockTask& task) const {
    if (!has_work(task)) return 0;
    const PanelRange a = block(task.first), b = block(task.second);
    return (a.last - a.first) * (b.last - b.first);
  }
  template <class F>
  void each_tile(const BlockTask& task, F&& f) const {
    if (has_work(task)) each_tile_of(block(task.first), block(task.second), false, f);
  }

 private:
  bool has_work(const BlockTask& task) const {
    if (share_ == Share::all) return true;
    const std::size_t square = (z_.first + block(task.second).first) / square_z_;
    return (task.first + square) % 2 == (share_ == Share::even ? 0u : 1u);
  }
  Schedule x_;
  VisitingPanels z_;
  std::size_t blocks_z_, square_z_;
  Share share_;
};

// How many rounds each block has behind it. Tasks are handed out in their order, so what a task waits for has been begun.
class Turns {
 public:
  void restart(std::size_t blocks) {
    if (blocks > size_) {
      done_ = std::make_unique<std::atomic<std::uint32_t>[]>(blocks);
      size_ = blocks;
    }
    blocks_ = blocks;
    for (std::size_t b = 0; b < blocks; ++b) done_[b].store(0, std::memory_order_relaxed);
  }

  // Runs the work when both blocks have come to their rounds; they have these behind them even if it throws.
  template <class F>
  void take(const BlockTask& task, F&& work) {
    wait(task.first, task.round);
    wait(task.second, task.round_of_second);
    struct End {
      Turns& turns;
      const BlockTask& task;
      ~End() {
        turns.pass(task.first, task.round);
        // on the diagonal both are one block, which may have gone on by now: passed twice, it would be set back
        if (task.second != task.first) turns.pass(task.second, task.round_of_second);
      }
    } end{*this, task};
    if (task.second < blocks_) work();
  }

 private:
  void wait(std::size_t block, std::size_t round) const {
    if (block >= blocks_) return;
    for (std::uint32_t now = done_[block].load(std::memory_order_acquire); now != round;)
      now = wait_for_change(done_[block], now);
  }
  void pass(std::size_t block, std::size_t round) {
    if (block >= blocks_) return;
    done_[block].store(static_cast<std::uint32_t>(round + 1), std::memory_order_release);
    done_[block].notify_all();
  }

  std::unique_ptr<std::atomic<std::uint32_t>[]> done_;
  std::size_t size_ = 0, blocks_ = 0;
};

}  // namespace fd::cpu
