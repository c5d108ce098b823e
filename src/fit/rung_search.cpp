#include "fit/rung_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "flow/landscape.hpp"

namespace fd {
namespace {

constexpr double worth_it = 1.25;  // a bandwidth that much larger, as of three times the rows, is worth those it costs
constexpr double dear = 8;         // groups are kept unless that makes the bandwidth so many times smaller
constexpr int most_solves = 5;     // of one search: each shows what the probes before it did not
constexpr int most_searches = 4;   // with rows aside: each keeps groups that the one before had set aside

}  // namespace

bool RungSearch::may_set_aside() const { return !context_.options.trim && context_.options.select == Select::robust; }

// What sampling does not make: a wall, or modes on a few rows.
bool RungSearch::held_down(const Found& found) const {
  const Step& step = found.step;
  return step.kind == Step::Kind::give_up || step.boundary == "localised" || step.boundary == "precision" ||
         (found.confirmed && !found.admissible);
}

bool RungSearch::admissible_at(double beta) const {
  for (const Probe& probe : history_.probes)
    if (probe.beta == beta) return probe.outcome == "resolved" && !flow::too_localised(probe, rules_);
  return true;  // between probes that are
}

// A solve at a bandwidth that was probed knows more than the probe did, and takes its place in what is decided on: the place in the order of
// probes too, by which the dyadic selectors know which of them came before the wall.
void RungSearch::record(const Probe& probe) {
  auto& [probes, groups, excused, broad] = history_;
  const std::size_t excuse = excuses_groups_ ? std::min(rung_.localised_in_groups(), rules_.potential.modes / 4) : 0;
  Probe judged = probe;
  judged.localised -= std::min(judged.localised, excuse);
  const auto earlier = std::find_if(probes.begin(), probes.end(), [&](const Probe& p) { return p.beta == probe.beta; });
  if (earlier == probes.end()) {
    probes.push_back(judged);
    groups.push_back(rung_.groups());
    excused.push_back(excuse);
    broad.push_back(rung_.broad_values());
  } else {
    const auto place = static_cast<std::size_t>(earlier - probes.begin());
    groups[place] = rung_.groups();
    excused[place] = excuse;
    broad[place] = rung_.broad_values();
    *earlier = judged;
  }
  sweep_.push_back(probe);
  if (probe.outcome == "resolved") dimension_ = probe.d_hat;
  if (probe.outcome == "wall") admit(rung_.groups());
}

// Past so many groups the gap is judged from here on, and of what was observed already. Returns whether that changes anything.
bool RungSearch::admit(std::size_t groups) {
  const std::size_t components = 1 + groups;
  if (!context_.admits_groups() || components <= rules_.potential.components || components > context_.most_components())
    return false;
  rules_.potential.components = context_.potential.components = components;
  const auto judge = [&](Probe& probe) {
    if (probe.outcome == "not converged" || probe.outcome == "sparse" || probe.eigenvalues.size() < components) return;
    probe.outcome.clear();
    complete(probe, rules_.potential);
  };
  for (Probe& probe : history_.probes) judge(probe);
  for (std::size_t i = phase_; i < sweep_.size(); ++i) judge(sweep_[i]);
  return true;
}

Step RungSearch::fold(bool* apart) {
  constexpr double far = 1 << 19;  // parts far from each other put the scale of all rows far from that of each
  for (;;) {                       // until `decide` has had its most probes
    Step step = decide(history_.probes, rules_);
    if (step.kind == Step::Kind::accept && step.boundary == "edge" && step.beta > far * rules_.beta_start &&
        step.beta < rules_.beta_max * (1 - 1e-9)) {
      rules_.beta_start = step.beta;
      continue;
    }
    if (step.kind != Step::Kind::probe) {
      // a gap that ends the search may be that of groups
      const bool by_gap = step.kind == Step::Kind::give_up || step.boundary == "precision";
      const auto& groups = history_.groups;
      if (by_gap && !groups.empty() && admit(*std::max_element(groups.begin(), groups.end()))) continue;
      return step;
    }
    const bool again =
        std::any_of(history_.probes.begin(), history_.probes.end(), [&](const Probe& p) { return p.beta == step.beta; });
    if (again) {  // what is known there does not lead on
      step.kind = Step::Kind::give_up;
      step.reason = "the search came back to a bandwidth that it had tried";
      return step;
    }
    record(rung_.probe(step.beta));
    if (apart != nullptr && disconnects_at_once(step.beta)) {
      *apart = true;
      return step;
    }
  }
}

bool RungSearch::observe(double beta) {
  if (last_) {
    solution_ = rung_.solve(beta);
    record(solution_->probe);
    solution_->probe = sweep_.back();  // judged past the groups that it showed
  } else if (!rung_.settled_near(beta)) {
    const Probe probe = rung_.settle(beta);
    if (probe.outcome != "not converged") record(probe);
  }
  return admissible_at(beta);
}

void RungSearch::confirm(Found& found) {
  for (int solves = 0; solves < most_solves; ++solves) {
    if (last_ || found.step.kind == Step::Kind::accept) found.admissible = observe(found.step.beta);
    found.confirmed = true;
    if (found.step.kind != Step::Kind::accept && !found.admissible) return;
    const Step next = decide(history_.probes, rules_);
    if (next.kind != Step::Kind::probe && next.beta == found.step.beta) {
      if (next.kind == Step::Kind::accept) found.step = next;  // what had been given up is all right after all
      return;
    }
    if (solves + 1 < most_solves) found.step = next.kind == Step::Kind::probe ? fold() : next;
  }
}

RungSearch::Found RungSearch::search() {
  Found found;
  found.step = fold();
  if (!held_down(found) || !may_set_aside() || rung_.sets_rows_aside()) confirm(found);
  return found;
}

void RungSearch::begin_anew() {
  history_ = {};
  phase_ = sweep_.size();
}

// A search with rows set aside, and as long as rows of groups are among them, another with these kept.
RungSearch::Found RungSearch::search_keeping_groups() {
  Found found;
  for (int searches = 0; searches < most_searches; ++searches) {
    begin_anew();
    // what is admitted is what the rows show that take part now
    rules_.potential.components = context_.potential.components = context_.options.components.value_or(1);
    found = {};
    const Probe first = rung_.probe(rules_.beta_start);
    record(first);
    if (rung_.keep_groups()) continue;
    if (same_as_of_all_rows(first)) return {};
    found.apart = disconnects_at_once(first.beta);
    if (!found.apart) found.step = fold(&found.apart);
    if (found.apart) return found;
    confirm(found);
    if (!found.admissible || !rung_.keep_groups()) break;
    rules_.beta_start = found.step.beta;
  }
  return found;
}

// The scale of the variance, and what was found from there, may be that of a few rows: a search without them starts at that of nearly all.
void RungSearch::start_at(double beta) {
  const double extent = context_.summary.extent, scale = !context_.options.beta0 && extent > 0 ? 2 / (extent * extent) : 0;
  if (beta > 0 || scale > rules_.beta_start)
    rules_.beta_start = std::clamp(std::max(beta, scale), rules_.beta_min, rules_.beta_max);
  rules_.first_ratio = FlowRules().first_ratio;
}

RungSearch::Found RungSearch::search_with_rows_aside(const Step& all, double most_return) {
  rung_.keep_groups();
  rung_.set_aside_above(most_return);
  start_at(all.kind == Step::Kind::accept ? all.beta : 0.0);
  return search_keeping_groups();
}

namespace {

// Whether slow modes are so many times slower `without` some rows; nothing is known where one of the slowest is next to 1 either way.
std::optional<bool> slowed_down(const std::vector<double>& with, const std::vector<double>& without, double slower) {
  constexpr std::size_t slowest = 3, slow = 6;
  constexpr double told_from_one = 1e-4;
  bool known = true;
  for (std::size_t j = 0; j < std::min({slow, with.size(), without.size()}); ++j) {
    if (1 - with[j] >= told_from_one && !((1 - without[j]) * slower >= 1 - with[j])) return true;
    if (j < slowest && !(1 - with[j] >= told_from_one)) known = false;
  }
  return known ? std::optional(false) : std::nullopt;
}

}  // namespace

// The last probe, without the sparsest rows, beside that of all rows at the same bandwidth. Both are known to a percent of V, not of each rate:
// what they tell must be clear.
bool RungSearch::disconnects_at_once(double beta) const {
  constexpr double slower = 2.5, same = 1e-9;
  if (rung_.treatment().most_return > 0) return false;
  const auto& [probes, groups, excused, broad] = of_all_;
  for (std::size_t i = 0; i < probes.size(); ++i)
    if (std::abs(probes[i].beta / beta - 1) < same && probes[i].outcome == "resolved")
      return slowed_down(broad[i], rung_.broad_values(), slower).value_or(false);
  return false;
}

// A walk without the isolated rows is that of all rows where there are none; there are none at smaller bandwidths either. So a search among them
// that begins past what held the search with all rows down finds no other answer than that.
bool RungSearch::same_as_of_all_rows(const Probe& first) const {
  return first.aside == 0 && first.outcome != "sparse" &&
         std::any_of(of_all_.probes.begin(), of_all_.probes.end(),
                     [&](const Probe& p) { return p.beta == first.beta && flow::too_localised(p, rules_); });
}

// Whether the rows that are set aside at beta, the isolated ones apart, hold others together. Modes on a few rows are left out of account.
std::optional<bool> RungSearch::disconnects(double beta) {
  const std::vector<double> with = rung_.broad_values(beta, isolated_return), without = rung_.broad_values(beta, 0);
  return slowed_down(with, without, 2);
}

// From the lowest bandwidth at which too many modes of all rows live on a few.
RungSearch::Found RungSearch::search_without_isolated_rows() {
  Step from;
  from.kind = Step::Kind::accept;
  from.beta = rules_.beta_start;
  double lowest = std::numeric_limits<double>::infinity();
  for (const Probe& probe : of_all_.probes)
    if (probe.beta > from.beta && flow::too_localised(probe, rules_)) lowest = std::min(lowest, probe.beta);
  if (std::isfinite(lowest)) from.beta = lowest;
  return search_with_rows_aside(from, isolated_return);
}

// Parts that are apart at the bandwidth that was found, whatever rows take part, tell nothing there: smaller ones are looked at. Where that tells that
// rows are needed only the isolated ones are set aside, in a search from where there are many such rows.
RungSearch::Found RungSearch::keep_connected(const Found& found, bool otherwise) {
  const auto usable = [](const Found& f) { return f.step.kind == Step::Kind::accept && f.admissible; };
  if (found.apart) return search_without_isolated_rows();
  if (!usable(found) || rung_.treatment().most_return > 0) return found;
  constexpr int most_looks = 4;
  std::optional<bool> apart;
  double beta = found.step.beta;
  for (int look = 0; look < most_looks && !apart && beta >= rules_.beta_min; ++look, beta /= 4) apart = disconnects(beta);
  if (!apart.value_or(false)) return found;
  Attempt all_aside = put_by(found);
  const Found connected = search_with_rows_aside(found.step, isolated_return);
  return usable(connected) || otherwise ? connected : take_up(std::move(all_aside));
}

// Groups that only a much smaller bandwidth resolves are set aside like other rows. V falls up to its minimum: where it does not at the bandwidth
// that would be worth it, nothing is found.
RungSearch::Found RungSearch::search_without_dear_groups(const Step& kept) {
  if (std::count(rung_.treatment().kept.begin(), rung_.treatment().kept.end(), 1) == 0) return {};
  rung_.set_treatment({0, {}, dear});
  rules_.potential.components = context_.potential.components = context_.options.components.value_or(1);
  start_at(dear * kept.beta);
  begin_anew();
  Probe there[2];
  for (int i = 0; i < 2; ++i) record(there[i] = rung_.probe(rules_.beta_start / (2 - i)));
  if (!flow::usable(there[1]) || !(there[1].v < there[0].v)) return {};
  return search_keeping_groups();
}

// Localised modes of groups that are kept, up to a quarter of all, are excused while the bandwidth is looked for: few rows are what such a group
// has, and between the bandwidth of its distance and that of its rows there are always some. Near what was found the search is made without that.
RungSearch::Found RungSearch::search_without_excuse(const Found& found) {
  const auto needs_excuse = [&](std::size_t i) {
    Probe probe = history_.probes[i];
    probe.localised += history_.excused[i];
    return probe.beta == found.step.beta && flow::too_localised(probe, rules_);
  };
  std::size_t i = 0;
  while (i < history_.probes.size() && !needs_excuse(i)) ++i;
  if (i == history_.probes.size() || !excuses_groups_) return found;
  Attempt excused = put_by(found);
  excuses_groups_ = false;
  rules_.beta_start = found.step.beta;
  begin_anew();
  Found without;
  without.step = fold();
  confirm(without);
  if (without.step.kind == Step::Kind::accept && without.admissible && without.step.beta * dear >= found.step.beta)
    return without;
  excuses_groups_ = true;
  return take_up(std::move(excused));
}

// Half of the last eigenvalue that was asked for, at or nearest to beta: rows below it are resolved.
double RungSearch::resolving_return(double beta) const {
  double distance = std::numeric_limits<double>::infinity(), least = 0;
  for (const Probe& probe : history_.probes) {
    const double from = std::abs(std::log(probe.beta / beta));
    if (!probe.eigenvalues.empty() && from < distance) distance = from, least = probe.eigenvalues.back();
  }
  return std::clamp(0.5 * least, 1.0 / 64, rather_stays);
}

// Tried twice, the second time with a quarter of that.
void RungSearch::return_resolved_rows(const Found& found) {
  if (rung_.treatment().most_return > 0) {  // only isolated rows are aside
    most_return_ = rung_.treatment().most_return;
    return;
  }
  most_return_ = resolving_return(found.step.beta);
  if (!last_) return;  // the next rung sees
  for (int attempt = 0; attempt < 2; ++attempt, most_return_ /= 4) {
    const auto returns = [&](std::size_t i) { return solution_->d[i] == 0 && solution_->stays[i] <= most_return_; };
    std::size_t row = 0;
    while (row < solution_->stays.size() && !returns(row)) ++row;
    if (row == solution_->stays.size()) break;
    Attempt last = put_by(found);  // that was admissible
    bool better = false;
    begin_anew();
    rung_.set_aside_above(most_return_);
    for (int solves = 0; solves < most_solves && observe(found.step.beta); ++solves) {
      const RowTreatment treatment = rung_.treatment();
      if (!rung_.keep_groups()) return;
      last = put_by(found);
      last.treatment = treatment;
      better = true;
      begin_anew();  // once more with the groups that this solve showed
    }
    take_up(std::move(last));
    if (better) return;
  }
  most_return_ = 0;
}

// Nearly everybody is a neighbour of everybody at the bandwidth of an attempt.
bool RungSearch::next_to_flat(const Attempt& attempt) const {
  constexpr double everybody = 0.9;
  const Probe* nearest = nullptr;
  const auto from = [&](const Probe& probe) { return std::abs(std::log(probe.beta / attempt.found.step.beta)); };
  for (const Probe& probe : attempt.history.probes)
    if (nearest == nullptr || from(probe) < from(*nearest)) nearest = &probe;
  return nearest != nullptr && nearest->n_eff > everybody * static_cast<double>(rung_.size());
}

RungSearch::Attempt RungSearch::put_by(const Found& found) {
  return {found, history_, rules_, std::exchange(solution_, {}), rung_.treatment(), sweep_.size()};
}

RungSearch::Found RungSearch::take_up(Attempt attempt) {
  history_ = std::move(attempt.history);
  rules_ = attempt.rules;
  context_.potential = rules_.potential;
  solution_ = std::move(attempt.solution);
  rung_.set_treatment(std::move(attempt.treatment));
  const auto end = sweep_.begin() + static_cast<std::ptrdiff_t>(attempt.sweep_end);
  if (solution_) std::rotate(end - 1, end, sweep_.end());  // the answer is the last of the sweep
  return attempt.found;
}

RungSearch::Found RungSearch::run() {
  const auto usable = [](const Found& f) { return f.step.kind == Step::Kind::accept && f.admissible; };
  const bool aside = rung_.sets_rows_aside();
  Found found = search();
  if (aside) {
    if (usable(found) && rung_.keep_groups()) found = search_with_rows_aside(found.step, rung_.treatment().most_return);
    found = keep_connected(found, false);
    if (!usable(found)) {  // the groups that are kept may be what no bandwidth resolves
      Attempt kept = put_by(found);
      found = keep_connected(search_without_dear_groups(kept.found.step), false);
      if (!usable(found)) return take_up(std::move(kept));
    }
  } else {
    if (!held_down(found) || !may_set_aside() || rung_.most_rows_aside() == 0) {
      if (!found.confirmed) confirm(found);
      return found;
    }
    beta_of_all_ = found.step.beta;
    Attempt all = put_by(found);
    const bool otherwise = all.found.step.kind == Step::Kind::accept && !next_to_flat(all);  // there is an answer with all rows
    if (otherwise) of_all_ = all.history;
    found = keep_connected(search_with_rows_aside(all.found.step), otherwise);
    const auto gained = [&](double much) {
      return usable(found) && (found.step.beta > much * all.found.step.beta || all.found.step.kind == Step::Kind::give_up);
    };
    if (!gained(worth_it)) found = keep_connected(search_without_dear_groups(all.found.step), otherwise);
    if (!gained(worth_it)) {
      found = take_up(std::move(all));
      if (!found.confirmed) confirm(found);
      return found;
    }
    if (!all.found.confirmed &&
        !gained(worth_it * worth_it)) {  // close: what probes with all rows came to is held against a solve
      Attempt without = put_by(found);
      Found kept = take_up(std::move(all));
      confirm(kept);
      if (usable(kept) && without.found.step.beta <= worth_it * kept.step.beta) return kept;
      beta_of_all_ = kept.step.beta;
      found = take_up(std::move(without));
    }
  }
  const auto unresolved = [](const Probe& probe) { return probe.outcome == "sparse"; };
  if (std::any_of(history_.probes.begin(), history_.probes.end(), unresolved)) {  // groups that are kept are what ends the search
    Attempt kept = put_by(found);
    found = keep_connected(search_without_dear_groups(kept.found.step), true);
    if (!usable(found) || found.step.boundary == "edge" || !(found.step.beta > dear * kept.found.step.beta))
      found = take_up(std::move(kept));
  }
  found = search_without_excuse(found);
  return_resolved_rows(found);
  return found;
}

bool RungSearch::holds(double beta, double most_return) {
  rung_.set_treatment({most_return_ = most_return, rung_.treatment().kept, dear});
  for (int solves = 0; solves < most_solves; ++solves) {
    if (!observe(beta)) {
      if (most_return_ == 0 || !may_set_aside() || rung_.most_rows_aside() == 0) return false;
      // rows that smaller samples did not hold may be all that is wrong
      rung_.set_aside_above(most_return_ = most_return_ < 1 ? 0 : resolving_return(beta));
    } else if (!rung_.sets_rows_aside() || !rung_.keep_groups()) {
      return true;
    }
    begin_anew();
  }
  return false;
}

}  // namespace fd
