// The order of work in a pass: every pair of blocks once, no block twice in a round, and turns that keep the order of rounds.
#include "backends/cpu/schedule.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "base/team.hpp"

namespace {

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
