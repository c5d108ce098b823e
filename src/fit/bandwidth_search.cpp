#include "fit/bandwidth_search.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fit/forecast.hpp"
#include "flow/flow.hpp"
#include "flow/landscape.hpp"

namespace fd {
namespace {

// The flow at work: rungs in ascending order, one history each.
class Search {
 public:
  explicit Search(FitContext& context) : context_(context), options_(context.options) {}

  FinalSolution run() {
    const auto ladder = fit_rungs(context_.summary.rows, options_);
    for (const Rung& rung : ladder) {
      const bool last = &rung == &ladder.back();
      std::vector<std::size_t> rows;
      if (rung.n < context_.summary.rows) rows = nested_sample(context_.summary.rows, rung.n, options_.seed);
      auto solver = std::make_unique<RungSolver>(context_, std::move(rows), rung.precision);
      if (current_) solver->start_from(*current_);
      retire();
      solved_.reset();
      current_ = std::move(solver);
      history_.clear();
      if (last && carried()) return finish_carried();
      if (!gain_ || gain_->beta < much * gain_->beta_of_all) most_return_ = 1;  // little was gained: it may be nothing here
      current_->set_aside_above(most_return_);
      FlowRules here = rules();
      if (!last && from_fewer_rows()) settle(here.beta_start);
      Step step = descend(here);
      relax(step, here);
      if (last) return finish(step, here);
      if (step.kind == Step::Kind::accept) {
        if (!optima_.empty() && optima_.back().first == rung.n) optima_.pop_back();  // of a cascade's looser precision
        optima_.emplace_back(rung.n, step.beta);
        if (!current_->settled_near(step.beta)) current_->settle(step.beta);
      }
    }
    return {};
  }

 private:
  // Do smaller samples say where the full N's minimum is? Three optima give an exponent and what it is worth; with fewer the
  // full N is small and is searched itself. The paper's and the continuation's sweeps start anew on every rung.
  bool carried() const { return from_fewer_rows() && optima_.size() >= 3 && rungs_agree(optima_); }

  // Whether earlier rungs have shown where about the minimum is, and whether they all had fewer rows (one of a cascade has the same).
  bool knows_where() const {
    return !optima_.empty() && (options_.select == Select::robust || options_.select == Select::minimum);
  }
  bool from_fewer_rows() const { return knows_where() && optima_.back().first < current_->size(); }

  double first_beta() const {
    const double variance = 0.5 / context_.summary.mean_square;
    if (options_.beta0) return *options_.beta0;
    if (options_.select == Select::paper || options_.select == Select::continuation)
      return options_.beta0_cap ? std::min(*options_.beta0_cap, variance) : variance;
    return 4 * variance;  // where the potential's minimum usually is, give or take; the flow walks both ways
  }

  FlowRules rules() const {
    FlowRules rules;
    rules.select = most_return_ < 1 ? Select::minimum : options_.select;
    rules.potential = context_.potential;
    if (options_.beta_max) rules.beta_max = *options_.beta_max;
    rules.beta_start = first_beta();
    if (knows_where()) {
      rules.beta_start = carried_beta(optima_, current_->size(), dimension_);
      rules.first_ratio = 1.25;
    }
    rules.beta_start = std::min(rules.beta_start, rules.beta_max);
    return rules;
  }

  // The first probe near where the minimum must be is made so well that its modes can be carried on: what is accepted is near it.
  void settle(double beta) {
    const Probe probe = current_->settle(beta);
    if (probe.outcome != "not converged") record(probe);
  }

  // A solve at a bandwidth that was probed knows more than the probe did, and takes its place in what is decided on: the place in the
  // order of probes too, by which the dyadic selectors know which of them came before the wall.
  void record(const Probe& probe) {
    const auto earlier = std::find_if(history_.begin(), history_.end(), [&](const Probe& p) { return p.beta == probe.beta; });
    if (earlier == history_.end()) history_.push_back(probe);
    else *earlier = probe;
    sweep_.push_back(probe);
    if (probe.outcome == "resolved") dimension_ = probe.d_hat;
  }

  // What holds a bandwidth down that sampling would allow: rows that no neighbour resolves, which make modes of their own, and groups of
  // rows far from all others, which make the gap close. Where that is so, rows are set aside on which a walker stays with a probability of
  // a half, a quarter, an eighth (as many rows as a localised mode has), a sixteenth, groups are admitted as components, and the search is made again,
  // as long as that buys a bandwidth a tenth larger. It goes for the minimum of V: on the way there a broad kernel may give sparse rows
  // modes, which count at the minimum only.
  bool may_set_aside() const { return !options_.trim && options_.select == Select::robust; }
  bool may_admit() const { return !options_.components && options_.select == Select::robust; }
  std::size_t most_components() const { return 1 + options_.modes / 2; }  // at most half of the modes are those of groups
  static bool held_down(const Step& step) {
    return step.kind == Step::Kind::give_up || step.boundary == "localised" || step.boundary == "precision";
  }
  static bool admissible(const Probe& probe, const FlowRules& rules) {
    return probe.outcome == "resolved" && !flow::too_localised(probe, rules);
  }
  static constexpr double worth_it = 1.1, much = 1.5;
  static constexpr double returns[] = {1, 0.5, 0.25, 0.125, 0.0625};

  void relax(Step& best, FlowRules& rules) {
    if (!held_down(best) || !(may_set_aside() || may_admit())) return;
    const double beta_of_all = best.beta, first_return = most_return_;
    FlowRules best_rules = rules, free = rules;
    std::vector<Probe> best_history = history_;
    double best_return = most_return_;
    for (const double most_return : returns) {
      if (!held_down(best)) break;
      if (most_return > first_return || (most_return < 1 && !may_set_aside())) continue;
      if (most_return < 1 && most_return > rung_return_) continue;  // a smaller sample had to go further
      current_->set_aside_above(most_return);
      free.select = most_return < 1 ? Select::minimum : rules.select;
      const std::optional<Step> step = admitting_groups(best, free, most_return, most_return < first_return);
      if (!step || !(step->beta > worth_it * best.beta || best.kind == Step::Kind::give_up)) continue;
      best = *step;
      best_rules = free;
      best_history = history_;
      best_return = most_return;
    }
    history_ = std::move(best_history);
    rules = best_rules;
    context_.potential.components = rules.potential.components;
    current_->set_aside_above(best_return);
    if (best_return < first_return) gain_ = {current_->size(), beta_of_all, best.beta};
    most_return_ = rung_return_ = best_return;
  }

  // A search from the best bandwidth so far (made anew, or gone on with), and as long as groups of rows end it, again past them. Nothing
  // where what it finds is not admissible.
  std::optional<Step> admitting_groups(Step step, FlowRules& rules, double most_return, bool anew) {
    std::optional<Step> found;
    for (int with_groups = 0;;) {
      if (anew) {
        history_.clear();
        // The scale of the variance, and what was found from there, may be that of a few rows: the search starts at that of nearly all.
        const double extent = context_.summary.extent, scale = !options_.beta0 && extent > 0 ? 2 / (extent * extent) : 0;
        if (step.kind == Step::Kind::accept || scale > rules.beta_start)
          rules.beta_start =
              std::clamp(std::max(step.kind == Step::Kind::accept ? step.beta : 0, scale), rules.beta_min, rules.beta_max);
        context_.potential.components = rules.potential.components;
        step = descend(rules);
        if (step.kind == Step::Kind::accept && step.boundary == "edge") return found;
      }
      // what counts is what a solve shows: modes of a probe need not have found their rows
      Solution solution = current_->solve(step.beta);
      record(solution.probe);
      const auto more_groups = [&] {
        const std::size_t more = may_admit() && (held_down(step) || !admissible(solution.probe, rules)) ? groups(solution) : 0;
        return rules.potential.components + more <= most_components() ? more : 0;
      };
      for (int smaller = 0; smaller < 4 && most_return < 1 && more_groups() == 0 && flow::too_localised(solution.probe, rules);
           ++smaller) {
        step.beta *= 0.8;
        step.boundary = "localised";
        step.reason = fmt::format("beyond beta = {:.3g} too many modes sit on a few rows", step.beta);
        solution = current_->solve(step.beta);
        record(solution.probe);
      }
      if (solution.probe.aside > 0 && with_groups++ < 2 && current_->keep_groups_aside(solution.d, step.beta)) {
        admit(1, rules);  // these rows may not be set aside: another search
        anew = true;
        continue;
      }
      const std::size_t more = more_groups();
      if (admissible(solution.probe, rules)) {
        if (step.kind != Step::Kind::accept || (found && !(step.beta > worth_it * found->beta))) return found;
        found = step;
        solved_ = Solved{rules.potential.components, most_return, std::move(solution)};
      }
      if (more == 0) return found;
      admit(more, rules);
      current_->keep_groups(rules.potential.components - 1);
      anew = true;
    }
  }

  // Eigenvalues next to 1, past the components admitted, with nothing near them below: as many groups of rows, but for those that live on
  // single rows.
  std::size_t groups(const Solution& solution) const {
    constexpr double clearly_below = 0.99;
    const std::vector<double>& values = solution.spectrum.values;
    const std::size_t near = next_to_one(values), known = context_.potential.components - 1;
    if (near == values.size() || values[near] > clearly_below) return 0;
    std::size_t of_groups = 0;
    for (std::size_t j = 0; j < std::min(near, solution.support.size()); ++j)
      if (solution.support[j] >= localised_rows) ++of_groups;
    return of_groups > known ? of_groups - known : 0;
  }

  // As many as are within 1e-4 of 1, or within a percent of it and a hundred times closer than the next: a walker that leaves a group once in
  // ten thousand steps has mixed within it long before.
  static std::size_t next_to_one(const std::vector<double>& values) {
    std::size_t near = 0;
    for (std::size_t j = 0; j < values.size() && values[j] > 0.99; ++j)
      if (values[j] > 1 - 1e-4 || (j + 1 < values.size() && 1 - values[j] < 0.01 * (1 - values[j + 1]))) near = j + 1;
    return near;
  }

  void admit(std::size_t more, FlowRules& rules) {
    if (may_admit())
      rules.potential.components = context_.potential.components = std::min(rules.potential.components + more, most_components());
  }

  // Groups that only a solve has found, or that smaller samples did not hold, are all that is wrong with its bandwidth.
  void admit_groups(Solution& solution, FlowRules& rules) {
    const std::size_t more = may_admit() && solution.probe.outcome == "wall" ? groups(solution) : 0;
    if (more == 0 || rules.potential.components + more > most_components()) return;
    admit(more, rules);
    solution.probe.outcome.clear();
    complete(solution.probe, rules.potential);
  }

  // No row of a group far from the rest is set aside, be it at the group's own edge.
  void keep_members(Solution& solution) {
    const std::size_t near = next_to_one(solution.spectrum.values);
    if (solution.probe.aside == 0 || near == 0 || !current_->keep_groups(near)) return;
    solution = current_->solve(solution.probe.beta);
    record(solution.probe);
  }

  // Where a group was set aside as a whole: what a search made again without that comes to, or the step itself if to nothing.
  std::optional<Step> searched_with_groups(const Solution& solution, const Step& step, FlowRules& rules) {
    if (solution.probe.aside == 0 || !current_->keep_groups_aside(solution.d, step.beta)) return {};
    admit(1, rules);
    return admitting_groups(step, rules, most_return_, true).value_or(step);
  }

  // Whether a solve was made when rows were set aside, and found admissible; it is not made again.
  bool is_solved(double beta, const FlowRules& rules) const {
    return solved_ && solved_->solution.probe.beta == beta && solved_->components == rules.potential.components &&
           solved_->most_return == most_return_;
  }
  Solution solve(double beta, const FlowRules& rules) {
    if (is_solved(beta, rules)) {
      Solution solution = std::move(solved_->solution);
      solved_.reset();
      return solution;
    }
    return current_->solve(beta);
  }

  Step descend(const FlowRules& rules) {
    for (;;) {  // until `decide` has had its most probes
      Step step = decide(history_, rules);
      if (step.kind != Step::Kind::probe) return step;
      const bool again = std::any_of(history_.begin(), history_.end(), [&](const Probe& p) { return p.beta == step.beta; });
      if (again) {  // what is known there does not lead on
        step.kind = Step::Kind::give_up;
        step.reason = "the search came back to a bandwidth that it had tried";
        return step;
      }
      record(current_->probe(step.beta));
    }
  }

  // The full N, after smaller samples have found the way: their optimum, carried; one solve, which is its own probe. Only where
  // that is not admissible here is there a search at the full N.
  FinalSolution finish_carried() {
    current_->set_aside_above(most_return_);
    FlowRules at_full = rules();
    Solution solution = current_->solve(at_full.beta_start);
    admit_groups(solution, at_full);
    record(solution.probe);
    const Step step = decide(history_, at_full);
    const bool refused =
        step.kind == Step::Kind::give_up ||
        (step.kind == Step::Kind::probe && step.beta < at_full.beta_start && solution.probe.outcome != "resolved") ||
        (step.kind == Step::Kind::probe && flow::too_localised(solution.probe, at_full));
    if (refused && !resolved_with_rows_aside(solution, at_full)) {
      Step search = descend(at_full);
      relax(search, at_full);
      return finish(search, at_full);
    }
    Step here;
    here.kind = Step::Kind::accept;
    here.beta = at_full.beta_start;
    if (const auto found = searched_with_groups(solution, here, at_full))  // groups that smaller samples did not hold
      return finish(*found, at_full);
    keep_members(solution);
    const Exponent exponent = fit_exponent(optima_);
    std::string how = fmt::format("beta {:.5g} carried from {} smaller samples", at_full.beta_start, optima_.size());
    if (std::isfinite(exponent.value)) how += fmt::format(" (beta ~ n^{:.3f})", exponent.value);
    return pack(at_full.beta_start, std::move(solution), how, true);
  }

  // Rows that only the full N holds may be all that is wrong with a bandwidth that smaller samples agreed on.
  bool resolved_with_rows_aside(Solution& solution, const FlowRules& rules) {
    if (!may_set_aside()) return false;
    for (const double most_return : returns) {
      if (most_return >= most_return_) continue;
      current_->set_aside_above(most_return);
      Solution again = current_->solve(rules.beta_start);
      if (admissible(again.probe, rules)) {
        most_return_ = most_return;
        record(again.probe);
        solution = std::move(again);
        return true;
      }
    }
    current_->set_aside_above(most_return_);
    return false;
  }

  // The accepted bandwidth, solved tightly. The solve is a probe too, and a better one than those on the way: where it shows that
  // the bandwidth is not admissible after all, the search goes on.
  FinalSolution finish(Step step, FlowRules rules) {
    bool settled = most_return_ < 1 && is_solved(step.beta, rules);
    Solution solution = solve(step.beta, rules);
    admit_groups(solution, rules);
    record(solution.probe);
    // rows that the probes did not see may be all that is wrong
    if (!settled && step.kind == Step::Kind::accept && !admissible(solution.probe, rules)) {
      rules.beta_start = step.beta;
      settled = resolved_with_rows_aside(solution, rules);
    }
    if (const auto found = searched_with_groups(solution, step, rules)) {
      step = *found;
      solution = solve(step.beta, rules);
    }
    for (int attempt = 0; attempt < 4 && step.kind == Step::Kind::accept && !settled; ++attempt) {
      const Step next = decide(history_, rules);
      if (next.kind != Step::Kind::probe && next.beta == step.beta) break;
      step = next.kind == Step::Kind::probe ? descend(rules) : next;
      solution = current_->solve(step.beta);
      admit_groups(solution, rules);
      record(solution.probe);
    }
    keep_members(solution);
    std::string disagreement;
    if (from_fewer_rows() && optima_.size() >= 3 && !rungs_agree(optima_))
      disagreement = fmt::format(" (smaller samples disagree on how it grows with n: exponent {:.2f}, so all rows were searched)",
                                 fit_exponent(optima_).value);
    std::string verdict = fmt::format("beta {:.5g} ({}): {}", step.beta,
                                      step.boundary.empty() ? "no admissible bandwidth" : step.boundary, step.reason);
    if (std::isfinite(step.unconstrained_minimiser) && std::abs(step.unconstrained_minimiser / step.beta - 1) > 0.02)
      verdict += fmt::format("; without regard to modes on a few rows the error estimate would be least at {:.5g}",
                             step.unconstrained_minimiser);
    verdict += disagreement;
    if (step.kind == Step::Kind::accept && (optima_.empty() || optima_.back().first < current_->size()))
      optima_.emplace_back(current_->size(), step.beta);
    return pack(step.beta, std::move(solution), verdict, step.kind == Step::Kind::accept && step.boundary != "edge");
  }

  FinalSolution pack(double beta, Solution solution, std::string verdict, bool admissible) {
    FinalSolution final;
    final.beta = beta;
    final.solution = std::move(solution);
    final.verdict = std::move(verdict);
    final.admissible = admissible;
    final.exponent = fit_exponent(optima_);
    final.full_passes = current_->passes() - current_->extension_passes();
    final.rung = std::move(current_);
    final.passes = passes_ + final.rung->passes();
    final.columns = columns_ + final.rung->columns();
    final.sweep = std::move(sweep_);
    if (final.solution.probe.aside > 0) final.gain = gain_;
    if (final.gain && final.gain->n == final.rung->size()) final.gain->beta = beta;
    final.components = context_.potential.components;
    return final;
  }

  void retire() {
    if (!current_) return;
    passes_ += current_->passes();
    columns_ += current_->columns();
  }

  FitContext& context_;
  const Options& options_;
  std::unique_ptr<RungSolver> current_;
  std::vector<Probe> history_, sweep_;
  Optima optima_;
  double dimension_ = 2;
  double most_return_ = 1, rung_return_ = 1;  // in force; that the last rung came to
  std::optional<AsideGain> gain_;
  struct Solved {
    std::size_t components;
    double most_return;
    Solution solution;
  };
  std::optional<Solved> solved_;
  std::size_t passes_ = 0, columns_ = 0;
};

}  // namespace

FinalSolution solve_at(FitContext& context, double beta) {
  FinalSolution final;
  final.beta = beta;
  final.rung = std::make_unique<RungSolver>(context, std::vector<std::size_t>{}, context.options.precision.back());
  final.solution = final.rung->solve(beta);
  final.sweep = {final.solution.probe};
  final.passes = final.full_passes = final.rung->passes();
  final.columns = final.rung->columns();
  return final;
}

FinalSolution search_bandwidth(FitContext& context) { return Search(context).run(); }

}  // namespace fd
