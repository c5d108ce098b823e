#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "io/bytes.hpp"

namespace fd {
namespace {

// Where writing to `path` arrives: links are followed one by one, so that the last may lead to a file that is not there yet.
std::string link_target(std::string path) {
  constexpr int most_links = 40;  // as the kernel allows
  std::error_code unknown;
  for (int links = 0; std::filesystem::is_symlink(path, unknown); ++links) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, unknown);
    if (unknown || links == most_links) throw system_error("write", path, unknown ? unknown.value() : ELOOP);
    path = (std::filesystem::path(path).parent_path() / target).string();  // an absolute target stands for itself
  }
  return path;
}

std::string random_name() {
  std::random_device entropy;
  return fmt::format("{:08x}{:08x}", entropy(), entropy());
}

// Where writing arrives, in one spelling.
std::filesystem::path arrival(const std::string& path) {
  const std::string target = link_target(path);
  std::error_code unknown;
  std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(target), unknown);
  return unknown ? std::filesystem::absolute(target).lexically_normal() : whole;
}

}  // namespace

bool same_output(const std::string& one, const std::string& other) {
  std::error_code missing;  // a file that does not exist is not the same as any other
  return std::filesystem::equivalent(one, other, missing) || arrival(one) == arrival(other);
}

AtomicFile::AtomicFile(std::string path) : path_(link_target(std::move(path))) {
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
  make_temporary(folder, name);
}

void AtomicFile::make_temporary(const std::string& folder, const std::string& name) {
  // What is to replace a file may hold what only some may read: nobody else may until it has that file's mode.
  const mode_t mode = ::access(path_.c_str(), F_OK) == 0 ? 0600 : 0666;
  int file = -1;
  do {
    temporary_ = fmt::format("{}/.{}.{}.tmp", folder, name, random_name());
    file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) throw system_error("write to folder", folder, errno);
  ::close(file);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  // Data before name: after a power cut the name must not stand for an empty file.
  const int file = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw system_error("write", path_, errno);
  struct stat replaced = {}, now = {};
  if (::stat(path_.c_str(), &replaced) == 0 && ::fstat(file, &now) == 0) {
    // Another owner only where that is allowed; the mode last, since a change of owner may take bits from it.
    if (replaced.st_uid != now.st_uid || replaced.st_gid != now.st_gid) [[maybe_unused]]
      const int refused = ::fchown(file, replaced.st_uid, replaced.st_gid);
    ::fchmod(file, replaced.st_mode & 07777);
  }
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
