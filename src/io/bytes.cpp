#include "io/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace fd {

Error system_error(const std::string& action, const std::string& path, int code) {
  std::string hint;
  if (code == ENOENT) hint = "check the spelling; relative paths start in the current folder";
  if (code == EACCES || code == EPERM) hint = "check the permissions of the file and its folder";
  if (code == ENOSPC || code == EDQUOT) hint = "free some space, or write to another disk";
  if (code == EFBIG) hint = "the file system or a limit (ulimit -f) does not allow a file this large";
  if (code == EROFS) hint = "the disk is mounted read-only; write to another folder";
  if (code == EISDIR) hint = "name a file, not a folder";
  if (code == EMFILE || code == ENFILE) hint = "too many open files: raise ulimit -n";
  if (code == EIO) hint = "the disk or the network share fails; copy the file elsewhere and try again";
  return Error(Failure::io, fmt::format("cannot {} {}: {}", action, path, std::strerror(code)), hint);
}

FileBytes::FileBytes(std::string path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO without a writer must not hang the open
  if (descriptor_ < 0) throw system_error("read", path_, errno);
  struct stat status = {};
  const int failed = ::fstat(descriptor_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (failed != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    if (failed != 0) throw system_error("read", path_, failed);
    throw Error(Failure::io, fmt::format("cannot read {}: it is not a regular file", path_),
                "save it to disk first; only text can come from a pipe");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

FileBytes::~FileBytes() { ::close(descriptor_); }

void FileBytes::read(std::uint64_t offset, std::size_t count, void* out) const {
  auto* to = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read", path_, errno);
    if (got == 0)
      throw Error(Failure::io, fmt::format("{} ends at byte {}, sooner than when it was opened", path_, offset),
                  "do not write to it during a run");
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

void MemoryBytes::read(std::uint64_t offset, std::size_t count, void* out) const {
  if (offset > content_.size() || count > content_.size() - offset)
    throw Error(Failure::io, fmt::format("{} ends at byte {}", name_, content_.size()));
  if (count > 0) std::memcpy(out, content_.data() + offset, count);
}

}  // namespace fd
