// Memory: what control groups leave, and a fit that needs more is refused before it reads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "fit/forecast.hpp"
#include "fit/resources.hpp"

namespace fd::test {
namespace {

// A tree of control groups in a folder of its own.
class Groups : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = std::filesystem::temp_directory_path() / ("fd_groups_" + name + std::to_string(::getpid()));
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  std::optional<std::uint64_t> free() const { return cgroup_free_bytes((root_ / "membership").string(), root_.string()); }

 private:
  std::filesystem::path root_;
};

TEST_F(Groups, NoGroupsNoLimit) {
  EXPECT_FALSE(free());
  write("membership", "0::/");
  EXPECT_FALSE(free());
  write("memory.max", "max");
  write("memory.current", "5000");
  EXPECT_FALSE(free());
}

TEST_F(Groups, VersionTwoTakesTheTightestOfTheGroupsThatHoldIt) {
  write("membership", "0::/outer/inner");
  write("outer/memory.max", "1000000");
  write("outer/memory.current", "700000");
  write("outer/memory.stat", "anon 5\ninactive_file 100000\nactive_file 9");
  EXPECT_EQ(free(), 400000u);  // cache that can be dropped is free
  write("outer/inner/memory.max", "max");
  write("outer/inner/memory.current", "600000");
  EXPECT_EQ(free(), 400000u);
  write("outer/inner/memory.max", "650000");
  EXPECT_EQ(free(), 50000u);
  write("outer/inner/memory.max", "10");
  EXPECT_EQ(free(), 0u) << "over its limit";
}

TEST_F(Groups, VersionOneBesideOtherControllers) {
  write("membership", "9:name=systemd:/\n4:cpu,memory:/job\n1:cpuset:/job\n0::/");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("memory/memory.usage_in_bytes", "123");
  EXPECT_FALSE(free());
  write("memory/job/memory.limit_in_bytes", "3000000");
  write("memory/job/memory.usage_in_bytes", "1000000");
  write("memory/job/memory.stat", "total_inactive_file_not 7\ntotal_inactive_file 500000");
  EXPECT_EQ(free(), 2500000u);
}

// In a container the path is often the host's, and the container's own group is mounted at the root.
TEST_F(Groups, APathThatIsNotThere) {
  write("membership", "4:memory:/docker/0123\n");
  write("memory/memory.limit_in_bytes", "2000000");
  write("memory/memory.usage_in_bytes", "500000");
  EXPECT_EQ(free(), 1500000u);
}

// Rows that may be counted and not read.
struct Unread : PointSource {
  explicit Unread(std::size_t rows) : rows_(rows) {}
  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return 20; }
  void read(std::size_t, std::size_t, double*) override { FAIL() << "a row was read"; }
  std::size_t rows_;
};

TEST(Memory, AFitThatNeedsMoreThanThereIsEndsBeforeItReads) {
  Unread all(std::size_t{1} << 40), few(1000);
  Options small;
  small.memory_bytes = 1000000;
  for (const auto& [source, options] : {std::pair{&all, Options()}, std::pair{&few, small}}) {
    try {
      fit(*source, options);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Failure::memory);
      EXPECT_NE(std::string(error.what()).find("needs about"), std::string::npos) << error.what();
    }
  }
  EXPECT_TRUE(memory_complaint(1000, 20, {}).empty());
}

}  // namespace
}  // namespace fd::test
