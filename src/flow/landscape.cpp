#include "flow/landscape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fd::flow {
namespace {

constexpr double beside = 0.1;       // how far from a failure it is tried again
constexpr double same_place = 0.15;  // a good probe this close was that trial
constexpr double identical = 1e-9;

Ground ground_of(const Probe& probe, const FlowRules& rules, bool heed_localised) {
  if (past_wall(probe, rules)) return Ground::wall;
  if (probe.outcome == "sparse") return Ground::localised;
  if (!usable(probe)) return Ground::hole;
  if (probe.outcome == "flat") return Ground::flat;
  return heed_localised && too_localised(probe, rules) ? Ground::localised : Ground::good;
}

bool good_below(const std::vector<Mark>& marks, double x) {
  return std::any_of(marks.begin(), marks.end(), [&](const Mark& m) { return m.ground == Ground::good && m.x < x; });
}

// Everything above the lowest Perron wall goes. Localisation sets in with growing beta too, but not everywhere: an outlier holds modes where the
// kernel is broad, and so do the inner modes of a small group until the bulk's overtake them. A localised probe is a ceiling only where
// something good lies below it and nothing better above. (A sparse one is a ceiling like a wall: rows are less resolved above it.)
void put_ceiling(std::vector<Mark>& marks) {
  double ceiling = std::numeric_limits<double>::infinity();
  const auto lower = [&](const Mark& m) {
    const bool sparse = m.ground == Ground::localised && m.probe->outcome == "sparse";
    if (m.ground == Ground::wall || (sparse && good_below(marks, m.x))) ceiling = std::min(ceiling, m.x);
  };
  std::for_each(marks.begin(), marks.end(), lower);
  std::erase_if(marks, [&](const Mark& m) { return m.x > ceiling; });

  double least = std::numeric_limits<double>::infinity();  // log V, of the good marks so far
  double from = ceiling;                                   // the lowest localised mark above the best of them
  for (const Mark& m : marks) {
    if (m.ground == Ground::good && m.log_v < least) least = m.log_v, from = ceiling;
    if (m.ground == Ground::localised && std::isfinite(least)) from = std::min(from, m.x);
  }
  std::erase_if(marks, [&](const Mark& m) { return m.x > from; });
}

// Everything below the highest flat probe goes: broader kernels are flatter. One above a good probe is an accident of rounding.
void put_floor(std::vector<Mark>& marks) {
  double floor = -std::numeric_limits<double>::infinity();
  for (Mark& m : marks) {
    if (m.ground != Ground::flat) continue;
    if (good_below(marks, m.x)) m.ground = Ground::hole;
    else floor = std::max(floor, m.x);
  }
  std::erase_if(marks, [&](const Mark& m) { return m.x < floor; });
}

// Two bad probes in a row are a wall. A failure between two good probes, or one whose neighbour on the near side was tried
// and is good, is an accident and no boundary. One that stands alone otherwise is tried again.
void judge_holes(Landscape& land, const FlowRules& rules) {
  std::vector<Mark> kept;
  for (std::size_t i = 0; i < land.marks.size(); ++i) {
    const Mark& m = land.marks[i];
    const Mark* below = i > 0 ? &land.marks[i - 1] : nullptr;
    const Mark* above = i + 1 < land.marks.size() ? &land.marks[i + 1] : nullptr;
    const bool backed = (below && below->ground != Ground::good) || (above && above->ground != Ground::good);
    if (m.ground == Ground::hole && !backed) {
      if ((below && above) || land.good_near(m.x, same_place)) continue;
      const double again = above ? m.x + beside : m.x - beside;
      if (std::exp(again) >= rules.beta_min && std::exp(again) <= rules.beta_max) land.retry = again;
    }
    kept.push_back(m);
  }
  land.marks = std::move(kept);
}

}  // namespace

bool usable(const Probe& probe) {
  const bool known = probe.outcome == "resolved" || probe.outcome == "flat";
  return known && std::isfinite(probe.v) && probe.v > 0;
}

bool past_wall(const Probe& probe, const FlowRules& rules) {
  return probe.outcome == "wall" || (usable(probe) && probe.perron_gap <= wall_gap(probe.precision, rules.potential));
}

bool too_localised(const Probe& probe, const FlowRules& rules) {
  const std::size_t modes = rules.potential.modes;
  const double allowed = modes <= 2 ? 0 : std::max(1.0, std::floor(rules.localised_fraction * static_cast<double>(modes) + 1e-9));
  return static_cast<double>(probe.localised) > allowed;
}

const Mark* Landscape::best() const {
  const Mark* least = nullptr;
  for (const Mark& m : marks)
    if (m.ground == Ground::good && (!least || m.log_v < least->log_v)) least = &m;
  return least;
}

const Mark* Landscape::good_near(double x, double distance) const {
  const Mark* nearest = nullptr;
  for (const Mark& m : marks)
    if (m.ground == Ground::good && std::abs(m.x - x) <= distance && (!nearest || std::abs(m.x - x) < std::abs(nearest->x - x)))
      nearest = &m;
  return nearest;
}

Landscape survey(const std::vector<Probe>& history, const FlowRules& rules, bool heed_localised) {
  Landscape land;
  land.probes = history.size();
  for (const Probe& probe : history) {
    if (!(probe.beta > 0) || !std::isfinite(probe.beta)) continue;
    const Ground ground = ground_of(probe, rules, heed_localised);
    const Mark mark{std::log(probe.beta), ground == Ground::good ? std::log(probe.v) : 0, ground, &probe};
    if (ground == Ground::hole) land.holes.push_back(mark.x);
    std::erase_if(land.marks, [&](const Mark& m) { return std::abs(m.x - mark.x) < identical; });
    land.marks.push_back(mark);
  }
  std::sort(land.marks.begin(), land.marks.end(), [](const Mark& a, const Mark& b) { return a.x < b.x; });
  put_ceiling(land.marks);
  put_floor(land.marks);
  judge_holes(land, rules);
  return land;
}

}  // namespace fd::flow
