#include "cli/memory.hpp"

#include <algorithm>

#include <flashdiffusion/precision.hpp>

#include "solver/plan.hpp"

namespace fd::cli {

// A row costs its points (packed for the kernel, and once more in the model where it keeps them: not at the same time as the
// basis), the Lanczos basis and its image, the modes carried, and mass, degree and scale in double. Nothing grows faster than
// the number of rows.
double fit_memory_bytes(std::size_t rows, std::size_t dimension, const Options& options) {
  bool wide = false;
  for (const Precision precision : options.precision) wide = wide || traits(precision).wide_panels;
  const std::size_t value = wide ? 8 : 4;
  const SolverPlan plan = plan_solver(options.modes, rows, value, options.memory_bytes / 2, options.block, options.basis);
  const double packed = static_cast<double>(value * (dimension + 1));
  const double basis = static_cast<double>(value * (2 * plan.basis + 2 * plan.block));
  const double modes = static_cast<double>(8 * 2 * options.modes), sums = 8 * 6;
  constexpr double program = 2e7;
  return static_cast<double>(rows) * (packed + std::max(basis, packed) + modes + sums) + program;
}

}  // namespace fd::cli
