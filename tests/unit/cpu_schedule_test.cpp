// The order of work in a pass: every pair of blocks once, no block twice in a round, and turns that keep the order of rounds.
#include "backends/cpu/schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <queue>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "base/team.hpp"

namespace {

using fd::Share;
using fd::cpu::PairSchedule;
using fd::cpu::Schedule;
using fd::cpu::Turns;

TEST(Schedule, EveryPairOfBlocksOnceAndEveryBlockOnceARound) {
  for (const std::size_t panels : {1, 4, 5, 9, 40, 41, 300, 2000, 20000}) {
    const Schedule schedule(panels);
    const std::size_t blocks = schedule.blocks();
    std::set<std::pair<std::size_t, std::size_t>> met;
    std::vector<std::set<std::size_t>> rounds;
    for (std::size_t index = 0; index < schedule.tasks(); ++index) {
      const auto task = schedule.task(index);
      ASSERT_LE(task.first, task.second);
      rounds.resize(std::max(rounds.size(), task.round + 1));
      ASSERT_EQ(task.round + 1, rounds.size()) << "rounds come in order";
      ASSERT_TRUE(rounds[task.round].insert(task.first).second);
      if (task.second != task.first) {
        ASSERT_TRUE(rounds[task.round].insert(task.second).second);
      }
      if (task.second < blocks) {
        ASSERT_TRUE(met.insert({task.first, task.second}).second);
      }
    }
    EXPECT_EQ(met.size(), blocks * (blocks + 1) / 2) << panels;
    std::size_t covered = 0;
    for (std::size_t b = 0; b < blocks; ++b) covered += schedule.block(b).last - schedule.block(b).first;
    EXPECT_EQ(covered, panels);
  }
}

TEST(Schedule, TurnsKeepTheOrderOfRoundsForAnyNumberOfThreads) {
  const Schedule schedule(41);
  for (const int threads : {1, 2, 5}) {
    fd::Team team(threads);
    Turns turns;
    for (int again = 0; again < 20; ++again) {
      turns.restart(schedule.blocks());
      std::vector<std::vector<std::size_t>> seen(schedule.blocks());  // rounds of each block, in the order in which they ran
      team.run(schedule.tasks(), [&](std::size_t index, int) {
        const auto task = schedule.task(index);
        turns.take(task, [&] {
          seen[task.first].push_back(task.round);
          if (task.second != task.first) seen[task.second].push_back(task.round);
        });
      });
      for (const auto& rounds : seen) {
        EXPECT_EQ(rounds.size(), schedule.blocks());
        EXPECT_TRUE(std::is_sorted(rounds.begin(), rounds.end()));
      }
    }
  }
}

TEST(PairSchedule, EveryPairOfBlocksOnceAndTurnsCountWithoutAGap) {
  for (const std::size_t x : {1, 9, 300})
    for (const std::size_t z : {1, 4, 30, 400}) {
      const PairSchedule schedule(x, {0, z, z}, Share::all);
      std::set<std::pair<std::size_t, std::size_t>> met;
      std::vector<std::size_t> turns(schedule.blocks(), 0);
      for (std::size_t index = 0; index < schedule.tasks(); ++index) {
        const auto task = schedule.task(index);
        ASSERT_TRUE(schedule.of_x(task.first) && !schedule.of_x(task.second) && task.second < schedule.blocks());
        ASSERT_TRUE(met.insert({task.first, task.second}).second);
        ASSERT_EQ(turns[task.first]++, task.round);
        ASSERT_EQ(turns[task.second]++, task.round_of_second);
      }
      EXPECT_EQ(met.size(), schedule.tasks());
    }
}

// Two ranks that face each other, each with the other's points visiting in parts that begin with whole chunks.
TEST(PairSchedule, TheSharesOfTwoRanksAreEveryTileOnce) {
  struct Sizes {
    std::size_t a, b;
  };
  for (const auto& [a, b] : {Sizes{30, 30}, Sizes{100, 90}, Sizes{3, 700}, Sizes{2600, 400}})
    for (const std::size_t parts : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << a << " panels and " << b << ", " << parts << " parts");
      std::vector<int> seen(a * b, 0);
      const auto visit = [&](std::size_t here, std::size_t there, Share share, auto&& tile) {
        for (std::size_t part = 0; part < parts; ++part) {
          const auto cut = [&](std::size_t i) {
            return i == parts ? there : there / fd::cpu::chunk_panels * i / parts * fd::cpu::chunk_panels;
          };
          const PairSchedule schedule(here, {cut(part), cut(part + 1) - cut(part), there}, share);
          for (std::size_t index = 0; index < schedule.tasks(); ++index)
            schedule.each_tile(schedule.task(index), [&](std::size_t p, std::size_t q) { tile(p, cut(part) + q); });
        }
      };
      visit(a, b, Share::even, [&](std::size_t p, std::size_t q) { ++seen[p * b + q]; });
      visit(b, a, Share::odd, [&](std::size_t q, std::size_t p) { ++seen[p * b + q]; });
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    }
}

// Plays the schedule on threads that this machine need not have: tasks are taken in their order, and one begins when its thread is free and both blocks
// have their last task behind them. A tile takes one unit of time. The share of the threads' time that is work.
template <class AnySchedule>
double efficiency(const AnySchedule& schedule, std::size_t threads) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (std::size_t t = 0; t < threads; ++t) free.push(0);
  std::vector<double> ready(schedule.blocks(), 0.0);
  double work = 0, end = 0;
  for (std::size_t index = 0; index < schedule.tasks(); ++index) {
    const auto task = schedule.task(index);
    double begin = free.top();
    free.pop();
    for (const std::size_t block : {task.first, task.second})
      if (block < schedule.blocks()) begin = std::max(begin, ready[block]);
    const auto tiles = static_cast<double>(schedule.tiles_of(task));
    for (const std::size_t block : {task.first, task.second})
      if (block < schedule.blocks()) ready[block] = begin + tiles;
    free.push(begin + tiles);
    work += tiles;
    end = std::max(end, begin + tiles);
  }
  return work / (static_cast<double>(threads) * end);
}

TEST(Schedule, ThereIsWorkForMoreThreadsThanThisMachineHas) {
  struct Case {
    std::size_t log_rows;
    double least[3];  // with 8, 32 and 128 threads
  };
  std::printf("%8s %7s %8s %8s %8s\n", "rows", "blocks", "8", "32", "128 threads");
  for (const Case& one :
       {Case{14, {0.95, 0.6, 0.15}}, Case{16, {0.97, 0.95, 0.65}}, Case{17, {0.97, 0.95, 0.85}}, Case{20, {0.99, 0.97, 0.95}}}) {
    const std::size_t rows = std::size_t{1} << one.log_rows;
    const Schedule schedule((rows + fd::cpu::panel_rows - 1) / fd::cpu::panel_rows);
    const double share[3] = {efficiency(schedule, 8), efficiency(schedule, 32), efficiency(schedule, 128)};
    std::printf("%8zu %7zu %8.3f %8.3f %8.3f\n", rows, schedule.blocks(), share[0], share[1], share[2]);
    for (int i = 0; i < 3; ++i) EXPECT_GE(share[i], one.least[i]) << rows << " rows";
  }
}

// A part of a visitor, as CpuBackend::parts() cuts them.
TEST(PairSchedule, APartOfAVisitorIsWorkForManyThreads) {
  struct Case {
    std::size_t rows, part;
    double least[3];  // with 8, 32 and 128 threads
  };
  std::printf("%8s %7s %8s %8s %8s\n", "rows", "a part", "8", "32", "128 threads");
  for (const Case& one :
       {Case{16384, 4096, {0.9, 0.5, 0.1}}, Case{65536, 8192, {0.95, 0.9, 0.3}}, Case{262144, 32768, {0.95, 0.95, 0.85}}}) {
    const auto panels = [](std::size_t rows) { return (rows + fd::cpu::panel_rows - 1) / fd::cpu::panel_rows; };
    const PairSchedule schedule(panels(one.rows), {0, panels(one.part), panels(one.rows)}, Share::all);
    const double share[3] = {efficiency(schedule, 8), efficiency(schedule, 32), efficiency(schedule, 128)};
    std::printf("%8zu %7zu %8.3f %8.3f %8.3f\n", one.rows, one.part, share[0], share[1], share[2]);
    for (int i = 0; i < 3; ++i) EXPECT_GE(share[i], one.least[i]) << one.rows << " rows";
  }
}

TEST(Schedule, ATaskThatThrowsKeepsNobodyWaiting) {
  const Schedule schedule(41);
  fd::Team team(3);
  Turns turns;
  turns.restart(schedule.blocks());
  EXPECT_THROW(team.run(schedule.tasks(),
                        [&](std::size_t index, int) {
                          turns.take(schedule.task(index), [&] {
                            if (index == 3) throw std::runtime_error("no memory");
                          });
                        }),
               std::runtime_error);
}

}  // namespace
