// Files that appear whole, by rename, or not at all.
#include <sys/stat.h>

#include "io/atomic_file.hpp"
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
  AtomicFile file(path("out")), twin(path("out"));
  EXPECT_NE(file.temporary(), twin.temporary());
  EXPECT_EQ(std::filesystem::path(file.temporary()).parent_path(), folder_);
  std::ofstream(file.temporary()) << "new";
  file.commit();
  EXPECT_EQ(get("out"), "new");
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

TEST_F(IoAtomic, FollowsLinks) {
  put("real", "old");
  std::filesystem::create_symlink(path("real"), path("link"));
  AtomicFile file(path("link"));
  std::ofstream(file.temporary()) << "new";
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(get("real"), "new");
}

}  // namespace
}  // namespace fd::io_test
