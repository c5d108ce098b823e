// The team of threads: every task once, exceptions passed on, also from the poll between tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <flashdiffusion/error.hpp>

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

// A thread that the system does not let run: it begins when the gate opens, at the latest after some seconds, so that a team which waits
// for it ends too.
TEST(Team, AThreadThatHasNotBegunIsNotWaitedFor) {
  std::promise<void> opened, finished;
  const std::shared_future<void> gate = opened.get_future().share();
  std::atomic<bool> open{false};
  std::thread keeper([&, done = finished.get_future()] {
    done.wait_for(std::chrono::seconds(5));
    open = true;
    opened.set_value();
  });
  {
    Team team(3, [&](std::function<void()> body) {
      return std::thread([gate, body = std::move(body)] {
        gate.wait();
        body();
      });
    });
    for (int run = 0; run < 10; ++run) {
      std::vector<int> seen(100);
      team.run(seen.size(), [&](std::size_t task, int) { ++seen[task]; });
      for (const int times : seen) EXPECT_EQ(times, 1);
    }
    EXPECT_FALSE(open) << "the calling thread waited";
    finished.set_value();
    keeper.join();
    // those that come late take part in what follows
    std::atomic<int> count{0};
    team.run(1000, [&](std::size_t, int) { ++count; });
    EXPECT_EQ(count, 1000);
  }
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

// Starts `allowed` threads, then refuses as a system does that has no more.
Team::Start refusing_after(int allowed) {
  return [allowed](std::function<void()> body) mutable {
    if (allowed-- == 0) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(body));
  };
}

class ThreadsOfEnvironment {
 public:
  explicit ThreadsOfEnvironment(const char* text) { setenv(name, text, 1); }
  ~ThreadsOfEnvironment() {
    if (before_) setenv(name, before_->c_str(), 1);
    else unsetenv(name);
  }

 private:
  static constexpr const char* name = "FLASHDIFFUSION_THREADS";
  std::optional<std::string> before_ = getenv(name) != nullptr ? std::optional<std::string>(getenv(name)) : std::nullopt;
};

TEST(Team, FewerThreadsThanAskedForIsAnErrorThatSaysHowMany) {
  for (const int allowed : {0, 1, 5}) {
    try {
      Team team(8, refusing_after(allowed));
      FAIL() << "a team of " << team.threads();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::device);
      EXPECT_NE(std::string(error.what()).find("only " + std::to_string(allowed + 1) + " of 8 threads"), std::string::npos)
          << error.what();
      EXPECT_FALSE(error.hint().empty());
    }
  }
}

TEST(Team, ANumberLeftOpenMakesDoWithTheThreadsThereAre) {
  const ThreadsOfEnvironment unset("");
  Team team(0, refusing_after(0));
  EXPECT_EQ(team.threads(), 1);
  std::atomic<int> count{0};
  team.run(50, [&](std::size_t, int) { ++count; });
  EXPECT_EQ(count, 50);
}

TEST(Team, TheEnvironmentIsReadStrictly) {
  for (const char* text : {"-1", "abc", "100000", "4097", "2 ", "2x", "1e3", "99999999999999999999"}) {
    const ThreadsOfEnvironment set(text);
    try {
      Team team(0);
      FAIL() << text << " made a team of " << team.threads();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::misuse);
      EXPECT_NE(std::string(error.what()).find(std::string("FLASHDIFFUSION_THREADS=") + text), std::string::npos);
    }
    EXPECT_EQ(Team(2).threads(), 2) << "a number that was asked for does not look there";
  }
  const ThreadsOfEnvironment three("3");
  EXPECT_EQ(Team(0).threads(), 3);
  const ThreadsOfEnvironment all("0");
  EXPECT_EQ(Team(0).threads(), available_cores());
}

TEST(Team, NumbersOfThreadsThatCannotBe) {
  EXPECT_THROW(Team(-1), Error);
  EXPECT_THROW(Team(Team::most_threads + 1), Error);
}

}  // namespace
}  // namespace fd::test
