// What this process has used and what it may still use: the machine's free memory, and less where the process is confined (control
// groups of version 1 and 2, a limited address space).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <flashdiffusion/options.hpp>

namespace fd {

std::uint64_t peak_resident_bytes();
std::uint64_t available_memory_bytes();  // 0 where it cannot be known

// What the control groups of a process leave it: `membership` is its /proc/self/cgroup, `root` where the groups are mounted. The least of
// its group and of all groups that hold it; nothing where there is no limit. File cache that can be dropped counts as free.
std::optional<std::uint64_t> cgroup_free_bytes(const std::string& membership, const std::string& root);

}  // namespace fd
