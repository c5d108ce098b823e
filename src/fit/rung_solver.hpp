// One rung of the ladder: some of the rows, loaded on a back-end in one precision. It probes bandwidths, solves at the accepted
// one, and hands its modes on: to the next bandwidth as they are, to a larger rung by Nyström extension.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>

#include "analysis/components.hpp"
#include "analysis/mode_support.hpp"
#include "device/space.hpp"
#include "fit/centred_source.hpp"
#include "fit/journal.hpp"
#include "fit/progress_watch.hpp"
#include "flow/potential.hpp"
#include "operator/diffusion_operator.hpp"
#include "solver/block_lanczos.hpp"

namespace fd {

// What is the same for all rungs of a fit.
struct FitContext {
  Backend& backend;
  PointSource& source;
  const PointSummary& summary;
  const Options& options;
  PotentialRules potential;
  ProgressWatch& watch;
  Journal& journal;

  // Whether groups far from the rest become components by themselves, past which the gap is judged: at most half of the modes are theirs.
  bool admits_groups() const { return !options.components && options.select == Select::robust && !options.beta; }
  std::size_t most_components() const { return admits_groups() ? 1 + options.modes / 2 : potential.components; }
};

// A solved rung. The vectors, q, d and stays of a probe are not there.
struct Solution {
  Probe probe;
  Spectrum spectrum;
  std::vector<double> q, d;
  std::vector<double> stays;  // P_ii with all rows in the walk; empty where no rows were to be set aside
  double perron_residual = 0;
  std::vector<double> support;  // effective number of rows, 1 / sum v^4, of each mode
};

// Which rows take part in the walk.
struct RowTreatment {
  // Rows on which a walker stays with a higher probability are set aside (`RowRule`), `most_aside` of all at most; 1: none, 0: as many as may be.
  double most_return = 1;
  std::vector<char> kept;  // rows that are not set aside (`RowRule`), in the order of the source; empty: any may be
  // Groups of rows far from the rest are kept if a bandwidth resolves them that is not so many times smaller.
  double dearest = std::numeric_limits<double>::infinity();
};

class RungSolver final : public Journal::Rung {
 public:
  // `rows`: which, ascending; empty means all.
  RungSolver(FitContext& context, std::vector<std::size_t> rows, Precision precision);

  std::size_t size() const { return points_->rows(); }
  Precision precision() const { return space_.precision(); }
  const Points& points() const { return *points_; }

  // From here on.
  void set_treatment(RowTreatment treatment);
  const RowTreatment& treatment() const { return state_.treatment; }
  void set_aside_above(double most_return);
  bool sets_rows_aside() const { return state_.treatment.most_return < 1; }
  std::size_t most_rows_aside() const;
  // How many localised modes of the last run are those of groups that are kept.
  std::size_t localised_in_groups() const { return state_.latest.localised_in_groups; }

  // As many groups of rows far from the rest as the last run found.
  std::size_t groups() const { return far_groups_in(state_.latest.values, state_.latest.support); }
  // Eigenvalues of the last run whose modes do not live on a few rows, descending.
  std::vector<double> broad_values() const;
  // Eigenvalues at beta whose modes do not live on a few rows, descending, with rows above `most_return` set aside: a probe to compare with, which
  // leaves the rung as it was.
  std::vector<double> broad_values(double beta, double most_return);
  // From here on no row of these groups is set aside, nor of those that the last run set aside as a whole. Returns whether any such row had
  // been. Members of a group are where one of its modes, which are next to constant on components, differs from its median by more than half
  // of the most it does; one of more than a tenth of the rows is no small group.
  bool keep_groups();
  // The potential at beta, from eigenvalues known to a percent or better. Starts from what the last probe or solve left.
  Probe probe(double beta);
  // The eigenpairs at beta, to the tolerance that was asked for.
  std::shared_ptr<Solution> solve(double beta);
  // A probe whose modes are good enough to be carried to a larger rung: they are what it starts from, whatever is probed afterwards.
  Probe settle(double beta);
  // Whether modes settled at another bandwidth will do for this one: they depend on it little.
  bool settled_near(double beta) const;
  // Starts from a smaller rung's modes, settled or the last it had, extended to these rows.
  void start_from(RungSolver& smaller);

  std::size_t passes() const { return state_.count.passes; }
  std::size_t columns() const { return state_.count.columns; }
  std::size_t extension_passes() const { return state_.extensions; }  // of passes(): rectangular ones, from a smaller rung

  void archive_small(Archive& archive) override;
  void archive_large(Archive& archive) override;

 private:
  enum class Purpose { probe, settle, solve };
  Columns start(Purpose purpose) const;
  bool lost_in_rounding(const std::vector<double>& values) const;
  std::shared_ptr<Solution> run(double beta, Purpose purpose);
  void make(double beta, Purpose purpose, Solution& solution);
  SolverOptions solver_options(Purpose purpose) const;
  Spectrum spectrum_of(DiffusionOperator& m, const SolverOptions& solver, Archive* unfinished);
  Probe record(const DiffusionOperator& m, double beta, std::chrono::steady_clock::time_point started);
  std::vector<double> supports(Panel& vectors, std::size_t modes);
  std::size_t localised_on_kept(const std::vector<double>& support, Panel& vectors);
  std::vector<double> extended_modes(std::size_t modes, const std::vector<double>& weight);
  bool keep_groups_of_modes(std::size_t modes);
  bool keep_groups_aside();
  void extend_from(RungSolver& smaller);

  FitContext& context_;
  std::unique_ptr<CentredSource> source_;
  std::unique_ptr<Points> points_;
  Space space_;
  // Right eigenvectors at a bandwidth and its weights q^-alpha: what a warm start carries.
  struct Modes {
    std::shared_ptr<Panel> psi, weight;
    double beta = 0;  // 0: there are none
  };
  void archive_modes(Archive& archive, Modes& modes);
  struct Latest {  // of the last run
    double beta = 0;
    std::vector<double> values, support, degree, stays;
    std::size_t localised_in_groups = 0;
    bool vectors_converged = false;  // and not values alone, of which those next to 1 are known least
  };
  // What a step leaves to the next.
  struct State {
    PassCount count;
    std::size_t extensions = 0;
    Modes modes, settled;
    bool from_rounding = false;  // the modes, or those that they were found from
    Latest latest;
    double share = std::numeric_limits<double>::infinity();  // what the residuals of the last solve consisted of
    RowTreatment treatment;
  };
  State state_, at_last_step_;  // the second one for the journal: between steps the treatment may change
};

// The share of the rows that may be set aside: where many more are sparse, sparse is what the data are. In a table of few rows one is more than
// that share, and may be set aside all the same.
inline constexpr double most_aside = 0.02;
inline constexpr std::size_t fewest_for_one_aside = 20;

}  // namespace fd
