#include "cli/memory.hpp"

#include <algorithm>

#include <flashdiffusion/precision.hpp>

namespace fd::cli {

// A row costs its points twice (as loaded, and scaled by the bandwidth of a pass), the Lanczos basis and its image, a block of input,
// weights and sums of a pass, the modes and those carried beyond them, and mass, degree and scale in double. Nothing grows faster
// than the number of rows. The last factor is what the allocator keeps of what was freed, measured at 1.25 to 1.35.
double fit_memory_bytes(std::size_t rows, std::size_t dimension, const Options& options) {
  bool wide = false;
  for (const Precision precision : options.precision) wide = wide || traits(precision).wide_panels;
  const std::size_t value = wide ? 8 : 4;
  // Blocks and basis as the solver chooses them where memory is plenty; a budget makes it choose less.
  const std::size_t block = options.block > 0 ? options.block : options.modes <= 24 ? 16 : options.modes <= 96 ? 32 : 64;
  const std::size_t basis = options.basis > 0 ? options.basis : std::max(8 * block, 3 * options.modes + 2 * block);
  const std::size_t points = 2 * value * (dimension + 1);
  const std::size_t panels = value * (2 * std::min(basis, rows) + 3 * block) + 8 * block;
  const std::size_t modes = value * 2 * (options.modes + 16) + 8 * 2 * options.modes;
  constexpr std::size_t sums = 8 * 6;
  constexpr double program = 2e7, kept = 1.3;
  return kept * static_cast<double>(rows) * static_cast<double>(points + panels + modes + sums) + program;
}

}  // namespace fd::cli
