// The team of threads: every task once, exceptions passed on, also from the poll between tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/team.hpp"

namespace fd::test {
namespace {

TEST(Team, EveryTaskRunsOnce) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    EXPECT_EQ(team.threads(), threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> seen(round);
      team.run(seen.size(), [&](std::size_t task, int worker) {
        EXPECT_LT(worker, threads);
        ++seen[task];
      });
      for (const int times : seen) ASSERT_EQ(times, 1);
    }
  }
}

TEST(Team, FewerThreadsWhenAskedFor) {
  Team team(4);
  std::atomic<int> largest{0};
  team.run(
      1000,
      [&](std::size_t, int worker) {
        for (int now = largest; worker > now && !largest.compare_exchange_weak(now, worker);) {
        }
      },
      {}, 2);
  EXPECT_LE(largest, 1);
}

TEST(Team, AnExceptionOfATaskIsPassedOnAndTheTeamGoesOn) {
  Team team(3);
  for (int attempt = 0; attempt < 20; ++attempt) {
    EXPECT_THROW(team.run(100,
                          [](std::size_t task, int) {
                            if (task == 37) throw std::runtime_error("task");
                          }),
                 std::runtime_error);
    std::atomic<int> count{0};
    team.run(50, [&](std::size_t, int) { ++count; });
    EXPECT_EQ(count, 50);
  }
}

TEST(Team, APollThatThrowsStopsTheRest) {
  Team team(2);
  std::atomic<int> count{0};
  int polls = 0;
  const auto poll = [&] {
    if (++polls == 3) throw std::runtime_error("stop");
  };
  EXPECT_THROW(team.run(
                   1000000, [&](std::size_t, int) { ++count; }, poll),
               std::runtime_error);
  EXPECT_LT(count, 1000000);
}

}  // namespace
}  // namespace fd::test
