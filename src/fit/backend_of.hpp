// The back-end that options ask for.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <flashdiffusion/options.hpp>

#include "device/backend.hpp"

namespace fd {

// With `keep_bytes` as BackendRequest has it. Spread over ranks where the options say so.
std::unique_ptr<Backend> backend_of(const Options& options, std::optional<std::size_t> keep_bytes = {});
// What one rank of it has; alone, the same.
std::unique_ptr<Backend> backend_of_a_rank(const Options& options, std::optional<std::size_t> keep_bytes = {});
std::size_t ranks_of(const Options& options);

}  // namespace fd
