// The paper's selector, as it is: beta doubles from the start; the first three consecutive probes that bracket a stationary
// point of V, with V_bias falling and V_stat or V_mach rising across them, give the vertex of a parabola in log beta, which is
// probed and taken. The last safe probe is taken if the wall comes first. A probe that fails counts as a wall: the dyadic
// grid has no place beside it.
#include <cmath>

#include "flow/selectors.hpp"

namespace fd::flow {
namespace {

bool brackets(const Probe& a, const Probe& b, const Probe& c) {
  const bool stationary = a.v >= b.v && b.v <= c.v;
  return stationary && c.v_bias < a.v_bias && (c.v_stat > a.v_stat || c.v_mach > a.v_mach);
}

// Vertex of the parabola through (-h, a), (0, b), (h, c), h = log 2: x = h (a - c) / (2 (a - 2b + c)).
double vertex(const Probe& a, const Probe& b, const Probe& c) {
  const double bend = a.v - 2 * b.v + c.v;
  const double shift = bend > 0 ? 0.5 * (a.v - c.v) / bend : 0;
  return b.beta * std::exp2(shift);
}

Step last_safe(const std::vector<Probe>& history, std::size_t wall, const FlowRules& rules) {
  const double at = history[wall].beta;
  const bool met = past_wall(history[wall], rules);
  if (wall == 0)
    return give_up_at(at, std::string(met ? "the rows no longer hang together (past the Perron wall)" : "the probe failed") +
                              " at the first bandwidth, beta = " + number(at) +
                              "; give a smaller `beta0`, or let `select = minimum` search downwards");
  return accept_at(
      history[wall - 1].beta, "precision",
      met ? "at beta = " + number(at) +
                " the rows no longer hang together (the Perron wall), before the error estimate V rises: last safe probe"
          : "the probe at beta = " + number(at) + " failed: last safe probe");
}

}  // namespace

Step paper_step(const std::vector<Probe>& history, const FlowRules& rules) {
  if (history.empty()) return probe_at(rules.beta_start, "start");
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (past_wall(history[i], rules) || !usable(history[i])) return last_safe(history, i, rules);
    if (i < 2 || !brackets(history[i - 2], history[i - 1], history[i])) continue;
    const Probe &a = history[i - 2], &b = history[i - 1], &c = history[i];
    const std::string boundary = c.v_mach - b.v_mach > c.v_stat - b.v_stat ? "precision" : "resolution";
    if (i + 1 == history.size()) return probe_at(vertex(a, b, c), "vertex of the bracketing triplet");
    const Probe& final_probe = history[i + 1];
    if (!past_wall(final_probe, rules) && usable(final_probe))
      return accept_at(final_probe.beta, boundary,
                       "the error estimate is least (vertex of the triplet that brackets the minimum of V)");
    return accept_at(b.beta, "precision", "the probe at the vertex was not safe: middle of the bracketing triplet");
  }
  const double beta = history.back().beta, next = 2 * beta;
  if (next > rules.beta_max)
    return accept_at(beta, "edge", "the error estimate V still falls at beta = " + number(beta) + "; raise `beta_max`");
  if (history.size() >= rules.most_probes)
    return accept_at(beta, "edge",
                     "the error estimate V still falls after " + std::to_string(history.size()) +
                         " doublings, at beta = " + number(beta) + "; give a larger `beta0`");
  return probe_at(next, "next octave");
}

}  // namespace fd::flow
