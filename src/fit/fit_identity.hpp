// What makes two fits the same one: the points, the version, the instruction set and every option that decides bits of the result. The number
// of threads, memory and who watches do not.
#pragma once

#include <cstdint>
#include <string>

#include <flashdiffusion/options.hpp>

#include "fit/journal.hpp"

namespace fd {

Journal::Identity fit_identity(const Options& options, const std::string& isa, std::size_t rows, std::size_t dimension,
                               std::uint64_t points_checksum);

}  // namespace fd
