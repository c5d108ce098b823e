// The minimiser of V inside the admissible range, in x = log beta. Bracket in growing steps, down as well as up; where a wall
// stands close above the best probe, fill the space between; then tighten the bracket round the minimum of the local model
// until the model need not be trusted further than a factor 1.3 from its nodes.
//
// Every new probe keeps a distance from the good ones, so the search ends; whatever noise there is in V only moves the best
// probe, and each decision starts from that one anew.
#include <algorithm>
#include <cmath>
#include <limits>

#include "flow/local_model.hpp"
#include "flow/selectors.hpp"

namespace fd::flow {
namespace {

constexpr double arm = 0.22;            // half-width of the final triplet: 1.25 each way, 1.55 over all
constexpr double loose = 0.27;          // an arm longer than this (1.7 over all) is shortened
constexpr double steep = 0.2;           // rise of log V along an arm past which a parabola no longer describes it ...
constexpr double short_arm = 0.04;      // ... unless the arm is as short as this
constexpr double crowd = 0.08;          // probes closer than this tell more about noise than about shape
constexpr double at_fence = 0.02;       // a Perron wall this close is reached
constexpr double at_localised = 0.223;  // factor 1.25: how near a localisation wall is worth knowing

// What lies to one side of the best probe.
struct Side {
  int sign = 1;
  std::vector<const Mark*> good;  // outwards from the best
  const Mark* fence = nullptr;    // what ends them, if anything seen does
  double limit = 0;               // where the search itself ends
  enum class State { open, enclosed, fenced, ended } state = State::open;
};

Side look(const Landscape& land, const Mark& best, int sign, const FlowRules& rules) {
  Side side;
  side.sign = sign;
  const double start = std::log(rules.beta_start);
  side.limit = sign > 0 ? std::min(start + span, std::log(rules.beta_max)) : std::max(start - span, std::log(rules.beta_min));
  std::vector<const Mark*> outwards;
  for (const Mark& m : land.marks)
    if (sign * (m.x - best.x) > 0) outwards.push_back(&m);
  if (sign < 0) std::reverse(outwards.begin(), outwards.end());
  bool risen = false;
  for (const Mark* m : outwards) {
    if (m->ground != Ground::good) {
      side.fence = m;
      break;
    }
    side.good.push_back(m);
    risen = risen || m->log_v >= best.log_v + 3 * rules.tolerance;  // less may be noise, or a dent in a slope
  }
  const Mark& outermost = side.good.empty() ? best : *side.good.back();
  const bool at_limit = sign * (side.limit - outermost.x) < 1e-9;
  if (side.good.empty()) side.state = side.fence ? Side::State::fenced : at_limit ? Side::State::ended : Side::State::open;
  else side.state = risen || side.fence || at_limit ? Side::State::enclosed : Side::State::open;
  return side;
}

class Search {
 public:
  Search(const Landscape& land, const FlowRules& rules)
      : land_(land), rules_(rules), best_(*land.best()), up_(look(land, best_, 1, rules)), down_(look(land, best_, -1, rules)) {}

  Step next() const {
    if (land_.retry && !exhausted()) return probe_at(std::exp(*land_.retry), "a probe failed: try beside it");
    const bool up_open = up_.state == Side::State::open, down_open = down_.state == Side::State::open;
    const double ahead = inner_model(up_).minimiser(best_.x - 1, best_.x + 1);
    if (up_open && down_open) {
      if (up_.good.empty() != down_.good.empty()) return expand(up_.good.empty() ? up_ : down_);
      return expand(ahead > best_.x ? up_ : down_);
    }
    if (up_open) return expand(up_);
    if (down_open) return unfinished(up_) && ahead > best_.x ? fill(up_) : expand(down_);
    if (unfinished(up_)) return fill(up_);
    if (unfinished(down_)) return fill(down_);
    if (enclosed()) return refine();
    return settle();
  }

  bool enclosed() const { return up_.state == Side::State::enclosed && down_.state == Side::State::enclosed; }
  double minimiser() const { return bracket_model().minimiser(arm_end(down_)->x, arm_end(up_)->x); }

 private:
  bool exhausted() const { return land_.probes >= rules_.most_probes; }

  // A neighbour that is near and hardly higher is passed over for the next one, if that is near as well.
  const Mark* arm_end(const Side& side) const {
    for (std::size_t i = 0; i + 1 < side.good.size(); ++i) {
      const bool says_little =
          std::abs(side.good[i]->x - best_.x) < crowd && side.good[i]->log_v < best_.log_v + 3 * rules_.tolerance;
      if (!says_little || std::abs(side.good[i + 1]->x - best_.x) > loose) return side.good[i];
    }
    return side.good.back();
  }

  LocalModel bracket_model() const { return LocalModel({arm_end(down_), &best_, arm_end(up_)}, rules_.potential); }

  // Towards a side where nothing good is known: the best probe and up to two behind it, not crowded together.
  LocalModel inner_model(const Side& side) const {
    std::vector<const Mark*> nodes = {&best_};
    for (const Mark* m : (side.sign > 0 ? down_ : up_).good)
      if (nodes.size() < 3 && std::abs(m->x - nodes.back()->x) >= crowd) nodes.push_back(m);
    return LocalModel(nodes, rules_.potential);
  }

  Step probe_or_stop(double x, const std::string& reason) const {
    if (exhausted()) return out_of_probes();
    for (int tries = 0; tries < 4; ++tries)  // not where a probe has failed before
      for (double hole : land_.holes)
        if (std::abs(x - hole) < 0.02) x = hole + (best_.x > hole ? 0.03 : -0.03);
    x = std::clamp(x, down_.limit, up_.limit);  // keeping clear of a failure must not lead out of the range
    if (land_.good_near(x, 0.005) || failed_near(x, 0.01)) return answer();
    return probe_at(std::exp(x), reason);
  }

  bool failed_near(double x, double distance) const {
    return std::any_of(land_.holes.begin(), land_.holes.end(), [&](double hole) { return std::abs(x - hole) < distance; });
  }

  Step expand(const Side& side) const {
    const Side& behind = side.sign > 0 ? down_ : up_;
    const double first = std::min(std::log(rules_.first_ratio), long_step);
    const Mark& from = side.good.empty() ? best_ : *side.good.back();
    double step = first;
    if (!side.good.empty()) step = std::max(first, std::abs(from.x - best_.x));
    else if (behind.good.size() >= 2) step = std::clamp(2 * std::abs(best_.x - behind.good.front()->x), first, long_step);
    const double x = from.x + side.sign * step;
    const bool beyond = side.sign * (x - side.limit) > -0.05;
    return probe_or_stop(beyond ? side.limit : x, side.sign > 0 ? "V may fall further up" : "V may fall further down");
  }

  // How far towards the fence V can be expected to be measurable: the wall the gap is heading for, or the fence itself.
  double reach(const Side& side, const LocalModel& model) const {
    if (side.fence->ground != Ground::wall) return side.fence->x;
    return std::max(best_.x, std::min(model.wall_after(best_.x, side.fence->x + at_fence / 2) - at_fence / 2, side.fence->x));
  }

  bool unfinished(const Side& side) const {
    if (side.state != Side::State::fenced) return false;
    const double room = std::abs(side.fence->x - best_.x);
    if (side.fence->ground == Ground::localised || side.fence->ground == Ground::flat) return room > at_localised;
    if (room <= at_fence) return false;
    const LocalModel model = inner_model(side);
    const double end = reach(side, model);
    const double at = model.minimiser(std::min(best_.x, end), std::max(best_.x, end));
    const auto& behind = (side.sign > 0 ? down_ : up_).good;
    const bool trusted = !behind.empty() && std::abs(behind.front()->x - best_.x) <= 2 * loose;
    return !trusted || best_.log_v - model.log_v(at) > rules_.tolerance;
  }

  Step fill(const Side& side) const {
    if (const auto inside = inner_minimum(side)) return probe_or_stop(*inside, "V may have its minimum before the wall");
    double part = 0.5;
    if (side.fence->ground == Ground::wall) {
      const LocalModel model = inner_model(side);
      const double at = model.minimiser(best_.x, reach(side, model));
      part = std::clamp((at - best_.x) / (side.fence->x - best_.x), 0.3, 0.7);  // safeguard: the room shrinks by 30 % at least
    }
    return probe_or_stop(best_.x + part * (side.fence->x - best_.x), "between the best probe and the wall");
  }

  bool tight(const Side& side) const {
    const Mark* end = arm_end(side);
    const double length = std::abs(end->x - best_.x);
    return length <= loose && (end->log_v - best_.log_v <= steep || length <= short_arm);
  }

  Step refine() const {
    const LocalModel model = bracket_model();
    const double x = minimiser();
    const double drop = best_.log_v - model.log_v(x);
    if (tight(up_) && tight(down_) && drop <= 2 * rules_.tolerance) return settle();
    if (!land_.good_near(x, drop > 2 * rules_.tolerance ? 0.01 : crowd)) return probe_or_stop(x, "minimum of the local model");
    const bool up_first = !tight(up_) && (tight(down_) || x >= best_.x);
    return shorten(tight(up_) && tight(down_) ? (x > best_.x ? up_ : down_) : up_first ? up_ : down_, model);
  }

  // A point on the arm where the model has risen by half of what counts as steep, at most `arm` away; safeguarded to lie
  // well inside.
  Step shorten(const Side& side, const LocalModel& model) const {
    const double length = std::abs(arm_end(side)->x - best_.x);
    double away = std::min(arm, 0.6 * length);
    while (away > 0.25 * length && model.log_v(best_.x + side.sign * away) - best_.log_v > steep / 2) away *= 0.9;
    return probe_or_stop(best_.x + side.sign * away, "closer to the minimum");
  }

  // All sides known; before a boundary is taken for the minimum, V is looked at just inside it.
  Step settle() const {
    if (enclosed()) return answer();
    const Side& end = boundary();
    if (const auto inside = inner_minimum(end)) return probe_or_stop(*inside, "V may have its minimum before the boundary");
    const Mark* behind = behind_best(end);
    const double back = behind ? std::abs(behind->x - best_.x) : 0;
    const double x = best_.x - end.sign * std::min(arm, 0.6 * back);
    if (back > loose && !land_.good_near(x, crowd)) return probe_or_stop(x, "whether V still falls at the boundary");
    return answer();
  }

  Step answer() const {
    if (!enclosed()) return at_boundary(boundary());
    const double x = minimiser();
    const bool barrier = bracket_model().barrier_rises(x, arm_end(up_)->x);
    const Mark* there = land_.good_near(x, 0.01);
    for (double hole : land_.holes)  // what failed so near is not risked again
      if (!there && std::abs(x - hole) < crowd) there = &best_;
    return accept_at(there ? there->probe->beta : std::exp(x), barrier ? "precision" : "resolution",
                     barrier ? "the error estimate is least (minimum of V, made by the precision: the Perron wall is near)"
                             : "the error estimate is least (minimum of V, made by sampling)");
  }

  const Side& boundary() const { return up_.state != Side::State::enclosed ? up_ : down_; }

  // With one side a boundary the minimum may still lie on the way back to the probe behind, as far as the model can tell.
  std::optional<double> inner_minimum(const Side& end) const {
    const Mark* behind = behind_best(end);
    if (!behind) return {};
    const LocalModel model = inner_model(end);
    const double x = model.minimiser(std::min(best_.x, behind->x), std::max(best_.x, behind->x));
    for (double hole : land_.holes)
      if (std::abs(x - hole) < 0.06) return {};
    if (best_.log_v - model.log_v(x) <= rules_.tolerance || land_.good_near(x, at_fence / 3)) return {};
    return x;
  }

  // The nearest good probe on the other side that is not crowded against the best one.
  const Mark* behind_best(const Side& end) const {
    for (const Mark* m : (end.sign > 0 ? down_ : up_).good)
      if (std::abs(m->x - best_.x) >= crowd) return m;
    return nullptr;
  }

  Step at_boundary(const Side& end) const {
    const double beta = best_.probe->beta;
    const bool up = end.sign > 0;
    if (end.state == Side::State::fenced) {
      if (end.fence->ground == Ground::localised)
        return accept_at(
            beta, "localised",
            "beyond beta = " + number(end.fence->probe->beta) +
                " too many modes sit on a few rows; on this side of it the error estimate is least here (minimum of V)");
      if (end.fence->ground == Ground::wall)
        return accept_at(beta, "precision",
                         "the largest beta at which the rows still hang together: near beta = " + number(end.fence->probe->beta) +
                             " they fall apart (Perron wall; a higher `precision` moves it)");
      if (end.fence->ground == Ground::flat)
        return accept_at(beta, "edge",
                         "below beta = " + number(end.fence->probe->beta) +
                             " half of the modes are lost in rounding, and the error estimate V still falls towards it; ask for "
                             "fewer modes");
      return accept_at(beta, "edge",
                       "the error estimate V still falls towards beta = " + number(end.fence->probe->beta) +
                           ", where probes fail; allow more passes (`max_passes`) or another `precision`");
    }
    if (up)
      return accept_at(beta, "edge",
                       "the error estimate V still falls at the largest bandwidth allowed, beta = " + number(beta) +
                           (std::isfinite(rules_.beta_max) && beta >= rules_.beta_max * (1 - 1e-9) ? "; raise `beta_max`"
                                                                                                   : "; give a larger `beta0`"));
    return accept_at(beta, "edge",
                     "the error estimate V still falls towards broader kernels at the smallest bandwidth allowed, beta = " +
                         number(beta) + ": the rows do not resolve these modes; use more rows, fewer modes or a smaller `beta0`");
  }

  Step out_of_probes() const {
    const std::string spent = "stopped after " + std::to_string(land_.probes) + " probes";
    if (enclosed()) {
      Step step = accept_at(best_.probe->beta, "resolution", spent + ", inside a bracket of the minimum");
      if (bracket_model().barrier_rises(minimiser(), arm_end(up_)->x)) step.boundary = "precision";
      return step;
    }
    return accept_at(best_.probe->beta, "edge",
                     spent + "; the minimum of the error estimate V has not been enclosed " +
                         (up_.state != Side::State::enclosed ? "from above" : "from below") +
                         "; this is the best seen, try another `beta0`");
  }

  const Landscape& land_;
  const FlowRules& rules_;
  const Mark& best_;
  Side up_, down_;
};

}  // namespace

Step minimum_step(const Landscape& land, const FlowRules& rules) {
  if (land.marks.empty()) return probe_at(rules.beta_start, "start");
  if (!land.best()) return descend(land, rules);
  return Search(land, rules).next();
}

double enclosed_minimiser(const Landscape& land, const FlowRules& rules) {
  if (!land.best()) return std::numeric_limits<double>::quiet_NaN();
  const Search search(land, rules);
  return search.enclosed() ? std::exp(search.minimiser()) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace fd::flow
