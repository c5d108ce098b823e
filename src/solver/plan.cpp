#include "solver/plan.hpp"

#include <algorithm>

namespace fd {

SolverPlan plan_solver(std::size_t modes, std::size_t rows, std::size_t bytes_per_value, std::size_t wished_block,
                       std::size_t wished_basis) {
  SolverPlan plan;
  // Never below 4: a single vector misses members of degenerate doublets while it reports convergence.
  plan.block = wished_block > 0 ? std::max<std::size_t>(4, wished_block) : modes <= 24 ? 16 : modes <= 96 ? 32 : 64;
  const std::size_t least = modes + 3 * plan.block;
  const std::size_t column = 2 * rows * bytes_per_value;  // of the basis and of its image
  if (wished_basis > 0) {
    plan.basis = std::max(wished_basis, least);
    return plan;
  }
  // Room for a solve without a restart where that is cheap (64 MiB), and never less than a restart can live on.
  constexpr std::size_t cheap = std::size_t{1} << 26;
  plan.basis = std::max({8 * plan.block, 3 * modes + 2 * plan.block, std::min<std::size_t>(32 * plan.block, cheap / column)});
  return plan;
}

}  // namespace fd
