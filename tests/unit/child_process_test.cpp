// A child may crash, loop, ask for absurd memory, throw or leave: the parent gets an Error and goes on.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "io/child_process.hpp"
#include "io/isolated_points.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

class ChildOfTest : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    if (!ChildProcess::possible()) GTEST_SKIP() << "this process has several threads";
    put("file", "some bytes");
  }
  Error error_in(const std::function<void()>& work) {
    return error_of([&] {
      ChildProcess child(path("file"), [&](const Channel& channel) {
        work();
        announce_answer(channel);
      });
      child.ask(await_answer);
    });
  }
};

TEST_F(ChildOfTest, Answers) {
  ChildProcess child(path("file"), [](const Channel& channel) {
    for (;;) {
      const std::uint64_t asked = channel.receive_number();
      announce_answer(channel);
      channel.send_text(std::string(asked, 'x'));
    }
  });
  for (const std::uint64_t asked : {0u, 3u, 1000000u})
    child.ask([&](const Channel& channel) {
      channel.send_number(asked);
      await_answer(channel);
      EXPECT_EQ(channel.receive_text(), std::string(asked, 'x'));
    });
}

// Lack of memory is no damage of the file, and what was sent of an answer before is no part of the message.
TEST_F(ChildOfTest, RunsOutOfMemoryWithinAnAnswer) {
  ChildProcess child(path("file"), [](const Channel& channel) {
    announce_answer(channel);
    channel.send_number(1);
    throw std::bad_alloc();
  });
  const Error error = error_of([&] {
    child.ask([](const Channel& channel) {
      await_answer(channel);
      channel.receive_number();
      channel.receive_text();
    });
  });
  EXPECT_EQ(error.kind(), Failure::memory);
  EXPECT_TRUE(says(error, "not enough memory to read " + path("file")));
}

TEST_F(ChildOfTest, EndsInManyWays) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
    EXPECT_TRUE(says(error_in([&] { ::raise(signal); }), "is damaged: the HDF5 library failed")) << signal;
  EXPECT_TRUE(says(error_in([] { ::_exit(0); }), "stopped"));
  EXPECT_EQ(error_in([] { ::raise(SIGKILL); }).kind(), Failure::memory);
  const Error thrown = error_in([] { throw Error(Failure::misuse, "what it was", "what to do"); });
  EXPECT_EQ(thrown.kind(), Failure::misuse);
  EXPECT_STREQ(thrown.what(), "what it was");
  EXPECT_EQ(thrown.hint(), "what to do");
  EXPECT_TRUE(says(error_in([] { throw std::runtime_error("oops"); }), "oops"));
  EXPECT_EQ(error_in([] { throw std::bad_alloc(); }).kind(), Failure::memory);
}

TEST_F(ChildOfTest, LoopsEnd) {
  const auto loop = [] {
    std::atomic<unsigned> steps = 0;
    for (;;) steps.fetch_add(1);
  };
  EXPECT_TRUE(says(error_in(loop), "would not end"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ChildOfTest, MemoryIsLimited) {
  EXPECT_EQ(error_in([] { std::vector<char> all(std::size_t{1} << 40); }).kind(), Failure::memory);
}
#endif

TEST_F(ChildOfTest, NoneBesideThreads) {
  std::thread([] { EXPECT_FALSE(ChildProcess::possible()); }).join();
}

class Counting final : public PointSource {
 public:
  explicit Counting(bool crash) : crash_(crash) {}
  std::size_t rows() const override { return 100000; }
  std::size_t dimension() const override { return 3; }
  bool exact_in_float() const override { return true; }
  std::vector<std::string> row_names() const override { return {"a", "", "c"}; }
  std::vector<std::string> notes() const override { return {"counted"}; }
  void read(std::size_t first, std::size_t count, double* out) override {
    if (crash_) std::abort();
    for (std::size_t i = 0; i < 3 * count; ++i) out[i] = static_cast<double>(3 * first + i);
  }

 private:
  bool crash_;
};

TEST_F(ChildOfTest, ServesPoints) {
  const auto points = isolated_points(path("file"), [] { return std::make_unique<Counting>(false); });
  EXPECT_EQ(points->rows(), 100000u);
  EXPECT_EQ(points->dimension(), 3u);
  EXPECT_TRUE(points->exact_in_float());
  EXPECT_EQ(points->row_names(), (std::vector<std::string>{"a", "", "c"}));
  EXPECT_EQ(points->notes(), std::vector<std::string>{"counted"});
  std::vector<double> rows(3 * 100000);
  points->read(0, 100000, rows.data());
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<double>(i));
  points->read(70000, 2, rows.data());
  EXPECT_EQ(rows[5], 210005);
  std::filesystem::resize_file(path("file"), 3);
  EXPECT_TRUE(says(error_of([&] { points->read(0, 1, rows.data()); }), "sooner than when it was opened"));
}

TEST_F(ChildOfTest, CrashWhileReading) {
  const auto points = isolated_points(path("file"), [] { return std::make_unique<Counting>(true); });
  double row[3];
  EXPECT_EQ(error_of([&] { points->read(0, 1, row); }).kind(), Failure::input);
  EXPECT_EQ(error_of([&] { points->read(0, 1, row); }).kind(), Failure::input);  // and again: no signal for the parent
}

}  // namespace
}  // namespace fd::io_test
