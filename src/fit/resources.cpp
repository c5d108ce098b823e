#include "fit/resources.hpp"

#include <fstream>
#include <string>

#include <sys/resource.h>

namespace fd {
namespace {

// A "Name:   123 kB" line of a /proc file.
std::uint64_t proc_kilobytes(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stoull(line.substr(name.size() + 1)) * 1024;
  return 0;
}

}  // namespace

std::uint64_t peak_resident_bytes() {
  if (const std::uint64_t peak = proc_kilobytes("/proc/self/status", "VmHWM"); peak > 0) return peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
  return static_cast<std::uint64_t>(usage.ru_maxrss);
#else
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

std::uint64_t available_memory_bytes() { return proc_kilobytes("/proc/meminfo", "MemAvailable"); }

std::size_t memory_budget(const Options& options) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  const std::uint64_t free = available_memory_bytes();
  return free > 0 ? static_cast<std::size_t>(0.8 * static_cast<double>(free)) : std::size_t{8} << 30;
}

}  // namespace fd
