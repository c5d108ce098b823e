// What the probes of one rung say about V on the line x = log beta: where it was measured, and where one may not go.
//
// Guarantees: the marks ascend in x, no two at one place (the later probe counts); no good mark lies at or above a wall.
// Pointers are into the history that was surveyed. Does not know what to do next.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "flow/flow.hpp"

namespace fd::flow {

enum class Ground { good, wall, flat, localised, hole };

struct Mark {
  double x = 0;      // log beta
  double log_v = 0;  // of a good mark
  Ground ground = Ground::good;
  const Probe* probe = nullptr;
};

struct Landscape {
  std::vector<Mark> marks;
  std::vector<double> holes;    // where probes failed, walls or not: never go back to the same spot
  std::optional<double> retry;  // x: a lone failure that has not been tried again beside it
  std::size_t probes = 0;

  const Mark* best() const;                                // the good mark of least V, or nothing
  const Mark* good_near(double x, double distance) const;  // the nearest good mark not farther than that, or nothing
};

bool usable(const Probe& probe);  // V is known and finite: resolved, localised or flat
bool past_wall(const Probe& probe, const FlowRules& rules);
bool too_localised(const Probe& probe, const FlowRules& rules);

Landscape survey(const std::vector<Probe>& history, const FlowRules& rules, bool heed_localised);

}  // namespace fd::flow
