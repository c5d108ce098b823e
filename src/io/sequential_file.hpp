// A file or pipe that is read from front to back.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "io/bytes.hpp"

namespace fd {

class SequentialFile {
 public:
  explicit SequentialFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw system_error("read", path, errno);
  }
  ~SequentialFile() { ::close(descriptor_); }
  SequentialFile(const SequentialFile&) = delete;
  SequentialFile& operator=(const SequentialFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace fd
