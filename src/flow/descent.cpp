// Nothing admissible yet: walls, failures and localised modes all give way to a broader kernel, so the search goes down by
// factors of four until something is, or until it is clear that nothing will be. Where that leaves as many localised modes as there were at the
// start, one probe looks above the start: a small group's inner modes come first until a narrower kernel lets the bulk's overtake them. A flat kernel gives way to a narrower one: from there
// the search goes up, and between a flat kernel and whatever stands above it, it halves.
#include <algorithm>
#include <cmath>

#include "flow/selectors.hpp"

namespace fd::flow {

namespace {

constexpr double next_to =
    0.223;  // factor 1.25 between a flat kernel and what stands above it: there is no room for anything else

Step ascend(const Landscape& land, const FlowRules& rules) {
  const Mark& flat = land.marks.front();
  const Mark* above = land.marks.size() > 1 ? &land.marks[1] : nullptr;
  const double top = std::min(std::log(rules.beta_max), std::log(rules.beta_start) + span);
  const double x = above ? 0.5 * (flat.x + above->x) : std::min(flat.x + long_step, top);
  const bool room = above ? above->x - flat.x > next_to : flat.x < top - 1e-9;
  if (room && land.probes < rules.most_probes)
    return probe_at(std::exp(x), "half of the modes are lost in rounding: a narrower kernel");
  const std::string lost = "half of the modes are lost in rounding at beta = " + number(flat.probe->beta);
  if (!above) return give_up_at(flat.probe->beta, lost + " and at every smaller one; ask for fewer modes or a higher precision");
  return give_up_at(flat.probe->beta,
                    lost + ", and at beta = " + number(above->probe->beta) +
                        (above->ground == Ground::wall ? " the rows fall apart" : " modes sit on a few rows") +
                        ": nothing between them is admissible; ask for fewer modes, or name the number of `components`");
}

}  // namespace

Step descend(const Landscape& land, const FlowRules& rules) {
  const Mark& lowest = land.marks.front();
  if (lowest.ground == Ground::flat) return ascend(land, rules);
  const double bottom = std::max(std::log(rules.beta_min), std::log(rules.beta_start) - span);
  const auto any = [&](Ground ground) {
    return std::any_of(land.marks.begin(), land.marks.end(), [&](const Mark& m) { return m.ground == ground; });
  };
  // A wall has another side; failures and localised modes may be everywhere.
  const std::size_t patience = any(Ground::wall) ? rules.most_probes : any(Ground::localised) ? 10 : 8;
  if (land.retry && land.probes < rules.most_probes) return probe_at(std::exp(*land.retry), "a probe failed: try beside it");
  const Mark& top = land.marks.back();
  const double above = std::min(top.x + long_step, std::log(rules.beta_max));
  const bool no_fewer = land.marks.size() > 2 && top.ground == Ground::localised && top.probe->outcome != "sparse" &&
                        lowest.ground == Ground::localised && lowest.probe->localised >= top.probe->localised;
  if (no_fewer && std::abs(top.x - std::log(rules.beta_start)) < 1e-9 && above > top.x + 1e-9 && land.probes < rules.most_probes)
    return probe_at(std::exp(above), "as many modes sit on a few rows where the kernel is broader: a narrower one");
  if (land.probes < std::min(rules.most_probes, patience) && lowest.x > bottom + 1e-9) {
    const double x = lowest.x - long_step;
    return probe_at(std::exp(x < bottom + 0.05 ? bottom : x), "nothing admissible yet: a broader kernel");
  }
  const Mark* least_bad = &lowest;
  for (const Mark& m : land.marks) {
    if (m.ground != Ground::localised) continue;
    if (least_bad->ground != Ground::localised || m.probe->localised < least_bad->probe->localised) least_bad = &m;
  }
  const double beta = least_bad->probe->beta;
  if (least_bad->ground == Ground::localised)
    return give_up_at(beta, "modes sit on a few rows at every bandwidth tried, down to beta = " + number(lowest.probe->beta) +
                                "; leave the sparsest rows out, or take `select = minimum`");
  if (least_bad->ground == Ground::wall)
    return give_up_at(
        beta, "the rows do not hang together at any bandwidth tried, down to beta = " + number(beta) +
                  " (past the Perron wall): they fall into separate components or hold isolated points; try `components`, leave "
                  "isolated rows out (`trim`), or take a higher `precision`");
  return give_up_at(beta, "no probe succeeded, down to beta = " + number(beta) + "; allow more passes, or check the rows");
}

}  // namespace fd::flow
