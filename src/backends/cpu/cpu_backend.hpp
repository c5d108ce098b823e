// The CPU back-end: fused tiles on every core, in fp32 and fp64; tf32 and bf16 in fixed point where that keeps them, in fp32 elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/backend.hpp"

namespace fd {

std::unique_ptr<Backend> make_cpu_backend(const std::string& isa, int threads, std::optional<std::size_t> keep_bytes,
                                          bool one_bandwidth);
std::vector<std::string> cpu_instruction_sets();

}  // namespace fd
