#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "io/bytes.hpp"

namespace fd {
namespace {

std::atomic<unsigned> made{0};  // two files of one process may go to the same name

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  // A link is followed: its target is replaced, not the link.
  if (std::filesystem::is_symlink(path_, ignored))
    if (const auto target = std::filesystem::canonical(path_, ignored); !ignored) path_ = target.string();
  struct stat status = {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) throw system_error("write", path_, EISDIR);
    throw Error(Failure::io, fmt::format("cannot write {}: it exists and is not a regular file", path_),
                "name a file in a folder");
  }
  const std::filesystem::path whole(path_);
  std::string name = whole.filename().string();
  if (name.empty()) throw Error(Failure::io, fmt::format("cannot write '{}': no file name", path_), "name a file, not a folder");
  const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT)
      throw Error(Failure::io, fmt::format("cannot write {}: there is no folder {}", path_, folder),
                  fmt::format("make it first: mkdir -p {}", folder));
    throw system_error("write to", folder, errno);
  }
  if (!S_ISDIR(status.st_mode))
    throw Error(Failure::io, fmt::format("cannot write {}: {} is not a folder", path_, folder), "name a file in a folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw system_error("write to folder", folder, errno);
  if (name.size() > 255) throw system_error("write", path_, ENAMETOOLONG);
  if (name.size() > 200) name.resize(200);  // the temporary name must fit in 255 too
  temporary_ = fmt::format("{}/.{}.{}.{}.tmp", folder, name, ::getpid(), made.fetch_add(1));
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  // Data before name: after a power cut the name must not stand for an empty file.
  const int file = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw system_error("write", path_, errno);
  const int failed = ::fsync(file) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
  ::close(file);
  if (failed != 0) throw system_error("write", path_, failed);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw system_error("write", path_, errno);
  committed_ = true;
  const std::string folder = temporary_.substr(0, temporary_.rfind('/') + 1);
  if (const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

}  // namespace fd
