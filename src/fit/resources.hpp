// What this process has used and this machine has left.
#pragma once

#include <cstdint>

namespace fd {

std::uint64_t peak_resident_bytes();
std::uint64_t available_memory_bytes();  // 0 where it cannot be known

}  // namespace fd
