// Retained row mass of a model's own points, as many sampled rows as a fraction of a second allows: what a report shows without being asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <flashdiffusion/support.hpp>

namespace fd {

// `rows`: those that may be sampled and be neighbours. At least 16 of them are measured and at most `most`. Nothing is measured where there
// are no points.
KernelSupport sampled_support(const Table& points, const std::vector<std::size_t>& rows, double beta,
                              const std::vector<std::size_t>& neighbours, std::size_t most = 256, std::uint64_t seed = 42);

}  // namespace fd
