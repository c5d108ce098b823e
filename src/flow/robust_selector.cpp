// The minimiser of V on the useful side of the localisation wall: a mode that sits on a handful of rows is not a resolved one.
//
// Localised probes still measure V, so as long as the least V seen belongs to a probe without localised modes the search is
// that of `minimum`, and where nothing is localised the two agree exactly. Once the least V lies among localised probes, they
// become a wall and the search is made again on the near side of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "flow/selectors.hpp"

namespace fd::flow {

Step robust_step(const std::vector<Probe>& history, const FlowRules& rules) {
  const Landscape free = survey(history, rules, false), near_side = survey(history, rules, true);
  const Step unconstrained = minimum_step(free, rules);
  const double known = unconstrained.kind == Step::Kind::accept ? unconstrained.beta : enclosed_minimiser(free, rules);

  Step step = unconstrained;
  const Mark* least = free.best();
  if (least) {
    const bool useful = near_side.good_near(least->x, 1e-9) != nullptr;
    double ceiling = std::numeric_limits<double>::infinity(), last_good = -ceiling;
    for (const Mark& m : near_side.marks) {
      if (m.ground == Ground::localised && useful && m.x > least->x) ceiling = std::min(ceiling, m.x);
      if (m.ground == Ground::good) last_good = std::max(last_good, m.x);
    }
    const double x = std::log(unconstrained.beta);
    const bool accepted = unconstrained.kind == Step::Kind::accept;
    const bool seen_localised = std::any_of(near_side.marks.begin(), near_side.marks.end(), [&](const Mark& m) {
      return m.ground == Ground::localised && std::abs(m.x - x) < 1e-9;  // by a solve, beside probes that showed less
    });
    if (!useful || (accepted && (x >= ceiling - 1e-9 || seen_localised))) step = minimum_step(near_side, rules);
    else if (accepted && x > last_good + 1e-9 && std::isfinite(ceiling) && history.size() < rules.most_probes)
      step = probe_at(unconstrained.beta, "whether modes are localised at the minimum of V");
  }
  step.unconstrained_minimiser = known;
  return step;
}

}  // namespace fd::flow
