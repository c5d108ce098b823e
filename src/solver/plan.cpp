#include "solver/plan.hpp"

#include <algorithm>
#include <cmath>

namespace fd {

SolverPlan plan_solver(std::size_t modes, std::size_t rows, std::size_t bytes_per_value, std::size_t wished_block,
                       std::size_t wished_basis, bool tiles_kept) {
  SolverPlan plan;
  // Never below 4: fewer vectors miss members of degenerate multiplets while they report convergence (two at a time take half as many columns, and of
  // four blobs they found three, whatever witnesses looked on). With few rows, or a kernel that is read back, a pass costs what is done with its columns, and fewer columns do.
  constexpr std::size_t few_modes = 24, few_rows = 2048;
  // Nor narrower than the choice for many modes, of which many may be copies: of 48 that are all 1, in a slow spectrum, 16 at a time find 38.
  const std::size_t chosen = modes <= few_modes && (rows <= few_rows || tiles_kept) ? 8
                             : modes <= few_modes                                   ? 16
                             : modes <= 96                                          ? 32
                                                                                    : 64;
  plan.block = wished_block > 0 ? std::max<std::size_t>(modes <= few_modes ? 4 : chosen, wished_block) : chosen;
  // What a restart drops may be the only trace of a mode: a few thousand rows have room for a chain that seldom needs one.
  const std::size_t room_for_all = rows <= 4096 ? std::min<std::size_t>(rows, 256) : 0;
  const std::size_t least = std::max(modes + 3 * plan.block, room_for_all);
  const std::size_t column = 2 * rows * bytes_per_value;  // of the basis and of its image
  if (wished_basis > 0) {
    plan.basis = std::max(wished_basis, least);
    return plan;
  }
  // Room for a solve without a restart where that is cheap (64 MiB), and never less than a restart can live on. A short chain would be quicker
  // on hard tables, but what it drops may be the only trace of a mode on few rows.
  constexpr std::size_t cheap = std::size_t{1} << 26, long_chain = 512;
  const std::size_t room = std::min(std::max(long_chain, 32 * plan.block), cheap / column);
  plan.basis = std::max({8 * plan.block, 3 * modes + 2 * plan.block, room});
  if (modes <= few_modes) return plan;
  // With many modes no more than have a projected problem, of some n^3 / 2.4 nanoseconds, that costs what a pass and the orthogonalisation of its
  // columns cost.
  const auto n = static_cast<double>(rows), b = static_cast<double>(plan.block),
             kept = static_cast<double>(modes + 4 * plan.block);
  const double pass = n * n * (0.1 + 0.01 * b) + 0.5 * n * b * kept;
  const auto solved = static_cast<std::size_t>(std::cbrt(2.4 * pass));
  plan.basis = std::min(plan.basis, std::max({8 * plan.block, modes + 5 * plan.block, solved}));
  return plan;
}

}  // namespace fd
