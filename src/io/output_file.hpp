// A descriptor that is written to from front to back. Writes are whole or throw Error(io) with the file the user asked for. Not atomic by
// itself: it writes to the temporary of an AtomicFile.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "io/bytes.hpp"

namespace fd {

class OutputFile {
 public:
  OutputFile(const std::string& temporary, const std::string& path) : path_(path) {
    descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw system_error("write", path_, errno);
  }
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t count) {
    const char* from = static_cast<const char*>(data);
    while (count > 0) {
      const ssize_t put = ::write(descriptor_, from, std::min(count, std::size_t{1} << 30));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw system_error("write", path_, errno);
      from += put;
      count -= static_cast<std::size_t>(put);
    }
  }
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) throw system_error("write", path_, errno);  // a network share reports late
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace fd
