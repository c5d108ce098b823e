// A random sample of rows without repetition: each set of `count` rows is equally likely, and the rows come in ascending order (selection
// sampling, Knuth's algorithm S). A pure function of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace fd {

// All rows where there are no more than `count`.
inline std::vector<std::size_t> sampled_rows(std::size_t rows, std::size_t count, std::uint64_t seed) {
  constexpr std::uint64_t stream = 0x73616d70;  // of its own
  const Random random(seed, stream);
  std::vector<std::size_t> sample;
  std::size_t wanted = count < rows ? count : rows;
  sample.reserve(wanted);
  for (std::size_t row = 0; wanted > 0; ++row) {
    if (static_cast<double>(rows - row) * random.uniform(row) >= static_cast<double>(wanted)) continue;
    sample.push_back(row);
    --wanted;
  }
  return sample;
}

}  // namespace fd
