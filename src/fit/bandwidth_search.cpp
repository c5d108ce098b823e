#include "fit/bandwidth_search.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fit/forecast.hpp"
#include "fit/rung_search.hpp"

namespace fd {
namespace {

// Gained on a smaller sample by setting rows aside: more than luck with a few of them can make, so a larger one does so from the start.
constexpr double much = 3;

// The flow over the ladder: rungs in ascending order, each searched from where the ones before it point to.
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
      if (current_) {
        solver->start_from(*current_);
        passes_ += current_->passes();
        columns_ += current_->columns();
      }
      current_ = std::move(solver);
      const bool aside = gain_ && gain_->beta >= much * gain_->beta_of_all;
      RungSearch search(context_, *current_, rules(), sweep_, last);
      if (last && agreed() && search.holds(search.rules().beta_start, aside ? most_return_ : 1)) return carried_solution(search);
      current_->set_treatment({aside ? tried_return_ : 1.0, current_->treatment().kept});
      // where the minimum must be near, the first probe is made so well that its modes can be carried on
      if (!last && from_fewer_rows()) search.observe(search.rules().beta_start);
      const RungSearch::Found found = search.run();
      const bool accepted = found.step.kind == Step::Kind::accept;
      if (std::isfinite(search.dimension())) dimension_ = search.dimension();
      if (current_->sets_rows_aside()) {
        most_return_ = search.most_return();
        tried_return_ = search.tried_return();
      }
      if (current_->sets_rows_aside() && std::isfinite(search.beta_of_all()))
        gain_ = {current_->size(), search.beta_of_all(), found.step.beta};
      if (last) return found_solution(search, found);
      if (accepted) {
        if (!optima_.empty() && optima_.back().first == rung.n) optima_.pop_back();  // of a cascade's looser precision
        optima_.emplace_back(rung.n, found.step.beta);
      }
    }
    return {};
  }

 private:
  // Do smaller samples say where the full N's minimum is? Three optima give an exponent and what it is worth; with fewer the
  // full N is small and is searched itself. The paper's and the continuation's sweeps start anew on every rung.
  bool agreed() const { return from_fewer_rows() && optima_.size() >= 3 && rungs_agree(optima_); }

  // Whether earlier rungs have shown where about the minimum is, and whether they all had fewer rows (one of a cascade has the same).
  bool knows_where() const {
    return !optima_.empty() && (options_.select == Select::robust || options_.select == Select::minimum);
  }
  bool from_fewer_rows() const { return knows_where() && optima_.back().first < current_->size(); }

  double first_beta() const {
    if (options_.beta0) return *options_.beta0;
    const double variance = 0.5 / context_.summary.mean_square;
    if (!(variance > 0 && std::isfinite(4 * variance)))
      throw Error(Failure::input,
                  fmt::format("squares of the distances between rows underflow: their mean comes out as {:.3g}",
                              context_.summary.mean_square),
                  "rescale the table: multiply all of its values by the same large number");
    if (options_.select == Select::paper || options_.select == Select::continuation)
      return options_.beta0_cap ? std::min(*options_.beta0_cap, variance) : variance;
    return 4 * variance;  // where the potential's minimum usually is, give or take; the flow walks both ways
  }

  FlowRules rules() const {
    FlowRules rules;
    rules.select = options_.select;
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

  // The full N, after smaller samples have found the way: their optimum, carried; one solve, which is its own probe.
  FinalSolution carried_solution(RungSearch& search) {
    const double beta = search.rules().beta_start;
    const Exponent exponent = fit_exponent(optima_);
    std::string how = fmt::format("beta {:.5g} carried from {} smaller samples", beta, optima_.size());
    if (std::isfinite(exponent.value)) how += fmt::format(" (beta ~ n^{:.3f})", exponent.value);
    return pack(beta, search.take_solution(), how, true);
  }

  FinalSolution found_solution(RungSearch& search, const RungSearch::Found& found) {
    const Step& step = found.step;
    std::string verdict = fmt::format("beta {:.5g} ({}): {}", step.beta,
                                      step.boundary.empty() ? "no admissible bandwidth" : step.boundary, step.reason);
    if (std::isfinite(step.unconstrained_minimiser) && std::abs(step.unconstrained_minimiser / step.beta - 1) > 0.02)
      verdict += fmt::format("; without regard to modes on a few rows the error estimate would be least at {:.5g}",
                             step.unconstrained_minimiser);
    if (from_fewer_rows() && optima_.size() >= 3 && !rungs_agree(optima_))
      verdict += fmt::format(" (smaller samples disagree on how it grows with n: exponent {:.2f}, so all rows were searched)",
                             fit_exponent(optima_).value);
    const bool accepted = step.kind == Step::Kind::accept;
    std::shared_ptr<Solution> solution = search.take_solution();
    const double everybody =
        0.9 * static_cast<double>(current_->size());  // are neighbours of each other: the kernel is next to flat
    if (std::isfinite(search.beta_of_all()) && !current_->sets_rows_aside() && solution->probe.n_eff > everybody)
      verdict += fmt::format(
          "; leaving out the sparsest {:g} in 100 rows did not help: if there are more stray rows, give their share (`trim`)",
          100 * most_aside);
    if (accepted && (optima_.empty() || optima_.back().first < current_->size()))
      optima_.emplace_back(current_->size(), step.beta);
    return pack(step.beta, std::move(solution), verdict, accepted && step.boundary != "edge");
  }

  FinalSolution pack(double beta, std::shared_ptr<Solution> solution, std::string verdict, bool admissible) {
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
    if (final.solution->probe.aside > 0) final.gain = gain_;
    final.components = context_.potential.components;
    return final;
  }

  FitContext& context_;
  const Options& options_;
  std::unique_ptr<RungSolver> current_;
  std::vector<Probe> sweep_;
  Optima optima_;
  double dimension_ = 2;
  double most_return_ = 1;   // above which the last rung set rows aside
  double tried_return_ = 0;  // and above which it did in its search
  std::optional<AsideGain> gain_;
  std::size_t passes_ = 0, columns_ = 0;
};

}  // namespace

FinalSolution solve_at(FitContext& context, double beta) {
  FinalSolution final;
  final.beta = beta;
  final.rung = std::make_unique<RungSolver>(context, std::vector<std::size_t>{}, context.options.precision.back());
  final.solution = final.rung->solve(beta);
  final.sweep = {final.solution->probe};
  final.passes = final.full_passes = final.rung->passes();
  final.columns = final.rung->columns();
  return final;
}

FinalSolution search_bandwidth(FitContext& context) { return Search(context).run(); }

}  // namespace fd
