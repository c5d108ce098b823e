// Wishes that cannot be granted are refused before any work is done.
#pragma once

#include <cstddef>

#include <flashdiffusion/options.hpp>

namespace fd {

// Throws Error(misuse) or, for too few points, Error(input).
void check_options(const Options& options, std::size_t rows);

}  // namespace fd
