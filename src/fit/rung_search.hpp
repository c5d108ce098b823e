// The search for the bandwidth on one rung: a fold over what was observed there. The flow decides on the history, a probe is added to it, and
// so on; what it accepts is solved, and where the solve shows what probes did not, the flow decides again.
//
// Two things hold a bandwidth down that sampling would allow. Groups of rows far from the rest close the gap: they are admitted as components, and the
// history is judged again past them. Rows that the others do not resolve make modes of their own: the search is made once more without the
// sparsest rows, as many as may be set aside, and is taken where that buys a bandwidth a quarter larger. Then all those of them return that the
// bandwidth resolves: a row's indicator has the Rayleigh quotient P_ii, so far below the last eigenvalue it is no mode that was asked for.
// Sparse rows may be what holds the others together (transitions between the wells of a potential): where slow modes are slower without them than
// with all but the isolated ones, at the same bandwidth, only the isolated ones are set aside. Where a probe without them shows that already,
// beside one of all rows at the same bandwidth, the search ends there.
//
// Guarantees: ends after a few searches of at most `most_probes` probes each; leaves the rung as its answer was solved.
// Does not know: other rungs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fit/rung_solver.hpp"
#include "flow/flow.hpp"

namespace fd {

class RungSearch {
 public:
  // `sweep`: where every probe is written down. `last`: what is accepted is solved to the end; otherwise as well as its modes are carried on.
  RungSearch(FitContext& context, RungSolver& rung, const FlowRules& rules, std::vector<Probe>& sweep, bool last)
      : context_(context), rung_(rung), rules_(rules), sweep_(sweep), last_(last), phase_(sweep.size()) {}

  struct Found {
    Step step;
    bool confirmed = false;   // a solve was made there,
    bool admissible = false;  // and showed that the bandwidth may be taken
    bool apart = false;       // the search was not made: without these rows the others fall apart
  };

  // A bandwidth that is likely to be accepted, observed before the search is begun. Returns whether it is admissible.
  bool observe(double beta);
  Found run();
  // Whether the bandwidth that smaller samples agree on is admissible here: with the rows that they set aside (above `most_return`), or with as
  // many as may be.
  bool holds(double beta, double most_return);

  std::shared_ptr<Solution> take_solution() { return std::move(solution_); }  // of the last rung's last solve
  double beta_of_all() const { return beta_of_all_; }  // with no row set aside; NaN where that was not searched
  double most_return() const { return most_return_; }  // above which rows are set aside at the answer
  // and above which they were set aside while it was searched for
  double tried_return() const { return rung_.treatment().most_return == isolated_return ? isolated_return : 0; }
  double dimension() const { return dimension_; }  // d_hat of the last probe that was resolved; NaN: none
  const FlowRules& rules() const { return rules_; }

 private:
  bool may_set_aside() const;
  bool held_down(const Found& found) const;
  bool admissible_at(double beta) const;
  void record(const Probe& probe);
  bool admit(std::size_t groups);
  Step fold(bool* apart = nullptr);
  void confirm(Found& found);
  void begin_anew();
  void start_at(double beta);
  Found search();
  Found search_with_rows_aside(const Step& all, double most_return = 0);
  Found search_without_isolated_rows();
  Found keep_connected(const Found& found, bool otherwise);
  std::optional<bool> disconnects(double beta);
  bool disconnects_at_once(double beta) const;
  bool same_as_of_all_rows(const Probe& first) const;
  Found search_without_dear_groups(const Step& kept);
  Found search_keeping_groups();
  Found search_without_excuse(const Found& found);
  double resolving_return(double beta) const;
  void return_resolved_rows(const Found& found);

  static constexpr double isolated_return = hardly_leaves;

  struct Observed {
    std::vector<Probe> probes;         // one a bandwidth: what the flow decides on, without localised modes that are excused
    std::vector<std::size_t> groups;   // that each of them showed
    std::vector<std::size_t> excused;  // how many those are
    std::vector<std::vector<double>> broad;  // and its eigenvalues whose modes do not live on a few rows
  };
  // A search that is put by while another is made.
  struct Attempt {
    Found found;
    Observed history;
    FlowRules rules;
    std::shared_ptr<Solution> solution;
    RowTreatment treatment;
    std::size_t sweep_end;
  };
  Attempt put_by(const Found& found);
  bool next_to_flat(const Attempt& attempt) const;
  Found take_up(Attempt attempt);

  FitContext& context_;
  RungSolver& rung_;
  FlowRules rules_;
  std::vector<Probe>& sweep_;
  bool last_;
  std::size_t phase_;           // where in the sweep the probes under the rule in force begin
  bool excuses_groups_ = true;  // localised modes of groups that are kept do not count
  Observed history_;
  Observed of_all_;  // what a search with all rows observed that led somewhere
  std::shared_ptr<Solution> solution_;
  double most_return_ = 1;
  double beta_of_all_ = std::numeric_limits<double>::quiet_NaN(), dimension_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace fd
