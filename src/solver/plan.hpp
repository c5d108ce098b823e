// How wide a block and how large a basis: from the number of modes and of rows and from whether passes read the kernel back, and from nothing
// else: they decide the bits of a result.
#pragma once

#include <cstddef>

namespace fd {

struct SolverPlan {
  std::size_t block = 0;
  std::size_t basis = 0;
};

// A pass costs nearly the same for 1 as for 16 vectors, so passes are what is saved: wide blocks, and a basis that seldom needs a
// restart. With few rows, and where tiles of the kernel are kept from pass to pass as a rule (`Backend::keeps_as_a_rule`), it is the work on columns
// that counts: narrower blocks. Wishes of zero mean "choose".
SolverPlan plan_solver(std::size_t modes, std::size_t rows, std::size_t bytes_per_value, std::size_t wished_block,
                       std::size_t wished_basis, bool tiles_kept = false);

}  // namespace fd
