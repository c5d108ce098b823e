#include "machine/fault.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace softgpu {

void report(const std::string& what) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::fprintf(stderr, "softgpu: %s\n", what.c_str());
  const char* path = std::getenv("FD_SOFTGPU_REPORT");
  if (!path || !*path) return;
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", what.c_str());
    std::fclose(file);
  } else {
    std::fprintf(stderr, "softgpu: cannot write to FD_SOFTGPU_REPORT=%s\n", path);
  }
}

}  // namespace softgpu
