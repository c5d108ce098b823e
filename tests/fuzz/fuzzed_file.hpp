// What the targets that read files share: bytes become a file (below TMPDIR, which tools/fuzz puts in memory), and a source of
// points is read the way a fit reads it. Bad bytes may end in fd::Error with a message, or in std::bad_alloc; anything else is a finding.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/points.hpp>

#include "require.hpp"

namespace fd::fuzz {

// A folder of this process, gone with it.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("flashdiffusion-fuzz-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string put(const char* name, const std::uint8_t* data, std::size_t size) const {
    const std::string file = (path_ / name).string();
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(descriptor >= 0 && ::write(descriptor, data, size) == static_cast<ssize_t>(size), "a file for the bytes");
    ::close(descriptor);
    return file;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// HDF5 is read in a child process while there is one thread only. A child is slow, and neither its coverage nor what a sanitizer finds
// in it comes back, so a thread that waits keeps the reading in this process. FD_FUZZ_ISOLATED: as the program reads it.
inline void read_in_this_process() {
  static const bool isolated = std::getenv("FD_FUZZ_ISOLATED") != nullptr;
  if (isolated) return;
  static std::mutex mutex;
  static std::condition_variable_any never;
  static const std::jthread waiting([](std::stop_token end) {
    std::unique_lock lock(mutex);
    never.wait(lock, end, [] { return false; });
  });
}

inline void only_clear_errors(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "a message");
  } catch (const std::bad_alloc&) {
  }
}

// First rows, a row in the middle and the last one. A shape may be larger than any memory: rows wider than this are not read.
inline void read_some(PointSource& source) {
  constexpr std::size_t widest = 1 << 16;
  const std::size_t rows = source.rows(), dimension = source.dimension();
  if (rows == 0 || dimension > widest) return;
  std::vector<double> values(std::min<std::size_t>(rows, 16) * dimension);
  source.read(0, std::min<std::size_t>(rows, 16), values.data());
  source.read(rows / 2, 1, values.data());
  source.read(rows - 1, 1, values.data());
}

}  // namespace fd::fuzz
