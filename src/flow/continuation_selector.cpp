// The non-dyadic continuation: beta grows by 1.5 (fast), 1.2 (slow) or 1.05 (crawl) until the Perron wall; the last safe probe
// is the answer. The potential takes no part.
//
// Rule. Nearness = perron_gap / (kappa eta): fast above 100, slow above 10, crawl below. A probe that took more than twice the
// median passes of the earlier ones makes the step one notch slower. It ends at the wall or a failed probe, at beta_max, or
// once nearness is 5 or less: from there the wall is a few crawls away and nothing more is resolved on the way.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/median.hpp"
#include "flow/selectors.hpp"

namespace fd::flow {
namespace {

constexpr double ratios[] = {1.5, 1.2, 1.05};
constexpr double near_wall = 5;

double nearness(const Probe& probe, const FlowRules& rules) {
  return probe.perron_gap / wall_gap(probe.precision, rules.potential);
}

bool laborious(const std::vector<Probe>& history) {
  if (history.size() < 2) return false;
  std::vector<std::size_t> earlier;
  for (std::size_t i = 0; i + 1 < history.size(); ++i) earlier.push_back(history[i].passes);
  return history.back().passes > 2 * median(std::move(earlier));
}

}  // namespace

Step continuation_step(const std::vector<Probe>& history, const FlowRules& rules) {
  if (history.empty()) return probe_at(rules.beta_start, "start");
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (!past_wall(history[i], rules) && usable(history[i])) continue;
    if (i == 0)
      return give_up_at(
          history[0].beta,
          "the first probe, at beta = " + number(history[0].beta) +
              ", failed or is so narrow that the rows no longer hang together (past the Perron wall); give a smaller `beta0`");
    return accept_at(history[i - 1].beta, "precision", "last safe probe before beta = " + number(history[i].beta));
  }
  const Probe& last = history.back();
  const double distance = nearness(last, rules);
  if (distance <= near_wall)
    return accept_at(last.beta, "precision", "a little narrower and the rows no longer hang together (the Perron wall)");
  if (last.beta >= rules.beta_max * (1 - 1e-9))
    return accept_at(
        last.beta, "edge",
        "the rows still hang together at beta = " + number(last.beta) + " (no Perron wall was met); raise `beta_max`");
  if (history.size() >= rules.most_probes)
    return accept_at(last.beta, "edge",
                     "the rows still hang together at beta = " + number(last.beta) + ", after " + std::to_string(history.size()) +
                         " probes (no Perron wall was met); give a larger `beta0`");
  int notch = distance > 100 ? 0 : distance > 10 ? 1 : 2;
  if (laborious(history)) notch = std::min(notch + 1, 2);
  return probe_at(std::min(last.beta * ratios[notch], rules.beta_max), notch == 0 ? "fast" : notch == 1 ? "slow" : "crawl");
}

}  // namespace fd::flow
