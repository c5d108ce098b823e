// What this process has used and this machine has left.
#pragma once

#include <cstddef>
#include <cstdint>

#include <flashdiffusion/options.hpp>

namespace fd {

std::uint64_t peak_resident_bytes();
std::uint64_t available_memory_bytes();             // 0 where it cannot be known
std::size_t memory_budget(const Options& options);  // what was asked for, or most of what is free

}  // namespace fd
