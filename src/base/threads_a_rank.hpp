// Threads of one process that its ranks share: as many as were asked for, or as there are cores, and at least one for each.
#pragma once

#include <algorithm>

#include "base/team.hpp"

namespace fd {

// `threads`: of all together, 0: as many as there are cores.
inline int threads_a_rank(int threads, int ranks) {
  return ranks == 1 ? threads : std::max(1, (threads > 0 ? threads : available_cores()) / ranks);
}

}  // namespace fd
