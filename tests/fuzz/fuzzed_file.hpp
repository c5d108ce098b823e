// What the targets that read files share: bytes become a file (in memory where the system has a place for that), and a source of
// points is read the way a fit reads it. Bad bytes may end in fd::Error with a message, or in std::bad_alloc; anything else is a finding.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/points.hpp>

#include "require.hpp"

namespace fd::fuzz {

// A folder of this process, gone with it.
class Folder {
 public:
  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    const auto above = ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    path_ = above / ("flashdiffusion-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string put(const char* name, const std::uint8_t* data, std::size_t size) const {
    const std::string file = (path_ / name).string();
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return file;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

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
