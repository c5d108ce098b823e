// How many modes to keep. A mode with eigenvalue lambda decays over t = -1 / log lambda steps of the walk; where the time scale falls most
// from one mode to the next, what comes before is slow structure and what comes after is detail.
//
// Does not know: what the map is for. A task with labels has a better answer, its held-out error.
#pragma once

#include <cstddef>
#include <vector>

namespace fd {

struct ModeCount {
  std::size_t modes = 0;  // to keep
  double fall = 1;        // of the time scale past the last one kept
  bool clear = false;     // a fall stands out; if not, all modes are kept
};

// Infinite for lambda >= 1 - uncertainty, 0 for lambda <= 0.
double time_scale(double eigenvalue, double uncertainty = 0);

// `eigenvalues`: nontrivial, descending. The last mode has nothing to be compared with. Within `uncertainty` of 1 they are all alike: no gap
// among them is one.
ModeCount modes_to_keep(const std::vector<double>& eigenvalues, double uncertainty = 0);

}  // namespace fd
