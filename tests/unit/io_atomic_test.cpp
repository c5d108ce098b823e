// Files that appear whole, by rename, or not at all.
#include <sys/stat.h>

#include "io/atomic_file.hpp"
#include "io/write_text.hpp"
#include "io_fixture.hpp"

namespace fd::io_test {
namespace {

class IoAtomic : public TemporaryFolder {};

TEST_F(IoAtomic, AppearsWholeOrNotAtAll) {
  put("out", "old");
  {
    const AtomicFile file(path("out"));
    std::ofstream(file.temporary()) << "half";
    EXPECT_EQ(get("out"), "old");
  }
  EXPECT_EQ(get("out"), "old");
  EXPECT_EQ(files(), 1u);
  AtomicFile file(path("out"));
  EXPECT_NE(file.temporary(), AtomicFile(path("out")).temporary());
  EXPECT_EQ(std::filesystem::path(file.temporary()).parent_path(), folder_);
  std::ofstream(file.temporary()) << "new";
  file.commit();
  EXPECT_EQ(get("out"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(IoAtomic, ATextAppearsWholeOrNotAtAll) {
  put("a", "old");
  EXPECT_TRUE(says(error_of([&] { write_text_file("new", path("none") + "/a"); }), "there is no folder"));
  write_text_file("new", path("a"));
  EXPECT_EQ(get("a"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(IoAtomic, RefusedBeforehand) {
  const auto refusal = [](const std::string& target) {
    Error error = error_of([&] { AtomicFile file(target); });
    EXPECT_EQ(error.kind(), Failure::io);
    return error;
  };
  EXPECT_TRUE(says(refusal(path("none") + "/out"), "there is no folder"));
  EXPECT_TRUE(says(refusal(folder_.string()), "directory"));
  EXPECT_TRUE(says(refusal(""), "no file name"));
  put("file", "");
  EXPECT_TRUE(says(refusal(path("file") + "/out"), "folder"));
  EXPECT_TRUE(says(refusal(path(std::string(300, 'x'))), "too long"));
  EXPECT_TRUE(says(refusal("/dev/null"), "not a regular file"));
  if (::geteuid() != 0) {
    ::chmod(folder_.c_str(), 0500);
    EXPECT_TRUE(says(refusal(path("out")), "Permission denied"));
    ::chmod(folder_.c_str(), 0700);
  }
  EXPECT_NO_THROW(AtomicFile(path(std::string(250, 'x'))));
}

TEST_F(IoAtomic, OneFileUnderTwoNames) {
  put("there", "");
  std::filesystem::create_directories(path("real"));
  std::filesystem::create_symlink("real", path("alias"));
  std::filesystem::create_symlink("missing", path("dangling"));
  std::filesystem::create_symlink("dangling", path("twice"));
  std::filesystem::create_hard_link(path("there"), path("hard"));
  EXPECT_TRUE(same_output(path("there"), path("real/../there")));
  EXPECT_TRUE(same_output(path("there"), path("hard")));
  EXPECT_TRUE(same_output(path("missing"), path("dangling")));
  EXPECT_TRUE(same_output(path("dangling"), path("twice")));
  EXPECT_TRUE(same_output(path("real/new"), path("alias/new")));
  EXPECT_TRUE(same_output(path("none/new"), path("none/./new")));
  EXPECT_FALSE(same_output(path("real/new"), path("new")));
  EXPECT_FALSE(same_output(path("there"), path("missing")));
}

TEST_F(IoAtomic, FollowsLinks) {
  put("real", "old");
  std::filesystem::create_symlink(path("real"), path("link"));
  AtomicFile file(path("link"));
  std::ofstream(file.temporary()) << "new";
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(get("real"), "new");
}

// The last link may lead to a file that is not there yet, in another folder, by a relative path.
TEST_F(IoAtomic, FollowsLinksToNothing) {
  std::filesystem::create_directory(path("far"));
  std::filesystem::create_symlink("far/second", path("link"));
  std::filesystem::create_symlink("real", path("far/second"));
  {
    AtomicFile file(path("link"));
    EXPECT_EQ(std::filesystem::path(file.temporary()).parent_path(), folder_ / "far");
    std::ofstream(file.temporary()) << "new";
    file.commit();
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("far/second")));
  EXPECT_EQ(get("far/real"), "new");
  std::filesystem::create_symlink("round", path("round"));
  EXPECT_EQ(error_of([&] { AtomicFile file(path("round")); }).kind(), Failure::io);
}

TEST_F(IoAtomic, KeepsTheMode) {
  const auto mode = [&](const std::string& name) {
    struct stat status = {};
    ::stat(name.c_str(), &status);
    return status.st_mode & 07777;
  };
  for (const mode_t wanted : {0640, 0600, 0444, 0664}) {
    put("out", "old");
    ::chmod(path("out").c_str(), wanted);
    AtomicFile file(path("out"));
    EXPECT_EQ(mode(file.temporary()), 0600u);  // nobody else reads what is not finished
    std::ofstream(file.temporary()) << "new";
    file.commit();
    EXPECT_EQ(mode(path("out")), wanted);
    EXPECT_EQ(get("out"), "new");
  }
  const mode_t before = ::umask(027);
  AtomicFile file(path("fresh"));
  file.commit();
  ::umask(before);
  EXPECT_EQ(mode(path("fresh")), 0640u);
}

TEST_F(IoAtomic, TemporaryNamesAreNotForeseen) {
  AtomicFile a(path("out")), b(path("out"));
  EXPECT_TRUE(std::filesystem::is_regular_file(a.temporary()));
  EXPECT_EQ(a.temporary().find(std::to_string(::getpid()) + "."), std::string::npos);
  EXPECT_NE(a.temporary(), b.temporary());
}

}  // namespace
}  // namespace fd::io_test
