#include "fit/resources.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include <sys/resource.h>

namespace fd {
namespace {

// The number behind "name " or "name:" at the start of a line of a file such as /proc/meminfo; nothing where it is not there.
std::optional<std::uint64_t> named_number(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(name, 0) != 0 || line.size() == name.size() || (line[name.size()] != ':' && line[name.size()] != ' '))
      continue;
    std::istringstream rest(line.substr(name.size() + 1));
    if (std::uint64_t number = 0; rest >> number) return number;
  }
  return {};
}

std::uint64_t proc_kilobytes(const char* file, const char* name) { return 1024 * named_number(file, name).value_or(0); }

std::optional<std::uint64_t> only_number(const std::string& file) {
  std::ifstream in(file);
  if (std::uint64_t number = 0; in >> number) return number;
  return {};  // no such file, or "max"
}

struct GroupFiles {
  const char *limit, *usage, *cache;
};
constexpr GroupFiles version_1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"},
                     version_2 = {"/memory.max", "/memory.current", "inactive_file"};

std::optional<std::uint64_t> group_free(const std::string& folder, const GroupFiles& files) {
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;  // version 1 writes the largest number of pages there is
  const auto limit = only_number(folder + files.limit), usage = only_number(folder + files.usage);
  if (!limit || !usage || *limit >= no_limit) return {};
  const std::uint64_t cache = named_number(folder + "/memory.stat", files.cache).value_or(0);
  const std::uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

// Of the group and of those that hold it. Inside a container the path may be that of the host, whose folder is not there: the root of the
// mount is then the container's own group.
std::optional<std::uint64_t> path_free(const std::string& mount, std::string path, const GroupFiles& files) {
  std::optional<std::uint64_t> least;
  for (;;) {
    if (const auto free = group_free(mount + path, files)) least = std::min(*free, least.value_or(*free));
    const auto slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return least;
    path.resize(slash);
  }
}

std::uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t used = proc_kilobytes("/proc/self/status", "VmSize");
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
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

std::optional<std::uint64_t> cgroup_free_bytes(const std::string& membership, const std::string& root) {
  std::ifstream in(membership);
  std::optional<std::uint64_t> least;
  for (std::string line; std::getline(in, line);) {  // number:controllers:path, and no controllers for version 2
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", path = line.substr(second + 1);
    std::optional<std::uint64_t> free;
    if (controllers == ",,") free = path_free(root, path, version_2);
    else if (controllers.find(",memory,") != std::string::npos) free = path_free(root + "/memory", path, version_1);
    if (free) least = std::min(*free, least.value_or(*free));
  }
  return least;
}

std::uint64_t available_memory_bytes() {
  const std::uint64_t machine = proc_kilobytes("/proc/meminfo", "MemAvailable");
  if (machine == 0) return 0;
  const std::uint64_t group = cgroup_free_bytes("/proc/self/cgroup", "/sys/fs/cgroup").value_or(machine);
  return std::max<std::uint64_t>(1, std::min({machine, group, address_space_left()}));
}

}  // namespace fd
