// The one place where effects happen in sequence: read, choose the bandwidth, solve, assemble the model.
#include <flashdiffusion/fit.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "fit/bandwidth_search.hpp"
#include "fit/centred_source.hpp"
#include "fit/check_options.hpp"
#include "fit/forecast.hpp"
#include "fit/resources.hpp"
#include "fit/right_eigenvectors.hpp"
#include "fit/rung_solver.hpp"
#include "fit/trim.hpp"

namespace fd {
namespace {

// Modes that live on a few rows, and the rows (counted from 1) that carry most of them. v: rows × k, row-major.
std::string describe_localised(const std::vector<double>& v, const std::vector<double>& support, std::size_t rows) {
  const std::size_t k = support.size();
  std::vector<std::size_t> where;
  std::size_t count = 0;
  for (std::size_t j = 0; j < k; ++j) {
    if (support[j] >= localised_rows) continue;
    ++count;
    std::size_t largest = 0;
    for (std::size_t i = 1; i < rows; ++i)
      if (std::abs(v[i * k + j]) > std::abs(v[largest * k + j])) largest = i;
    where.push_back(largest + 1);
  }
  if (count == 0) return {};
  std::sort(where.begin(), where.end());
  where.erase(std::unique(where.begin(), where.end()), where.end());
  const std::size_t shown = std::min<std::size_t>(where.size(), 6);
  return fmt::format("{} of {} modes live on fewer than {:g} rows (most of it on {} {}{})", count, k, localised_rows,
                     where.size() == 1 ? "row" : "rows",
                     fmt::join(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < where.size() ? ", ..." : "");
}

// Eigenvalues next to 1 with nothing near them below: rows that are cut off from the rest, one by one or as components. They raise the
// Perron wall early and so hold the bandwidth down.
std::string describe_separation(const Model& model, const std::vector<double>& support, std::size_t components) {
  constexpr double next_to_one = 1e-4, clearly_below = 0.9;
  std::size_t near = 0, alone = 0;
  while (near < model.modes() && model.eigenvalues[near] > 1 - next_to_one) {
    if (support[near] < localised_rows) ++alone;
    ++near;
  }
  if (near < components || near == model.modes() || model.eigenvalues[near] > clearly_below) return {};
  if (alone == near)
    return fmt::format("{} nearly isolated {} the bandwidth down: leave {} out of the fit (`trim_isolated`)", near,
                       near == 1 ? "row holds" : "rows hold", near == 1 ? "it" : "them");
  return fmt::format("the rows fall into {0} nearly separate components: try `components = {0}`", near + 1);
}

// Returns what is to be said about modes on a few rows.
std::string assemble(Model& model, Solution& solution, Backend& backend, const Points& points) {
  const std::size_t k = solution.spectrum.values.size();
  model.eigenvalues = solution.spectrum.values;
  model.residuals = solution.spectrum.residuals;
  model.perron_residual = solution.perron_residual;
  std::vector<double> v(points.rows() * k);
  backend.download(&points, {*solution.spectrum.vectors, 0, k}, v.data());
  std::string localised = describe_localised(v, solution.support, points.rows());
  model.psi = right_eigenvectors(v, solution.d, k, traits(model.precision).wide_panels);
  model.q = std::move(solution.q);
  model.d = std::move(solution.d);
  return localised;
}

Table centred_table(PointSource& source, const std::vector<double>& mean, bool wide) {
  Table table(source.rows(), source.dimension(), wide);
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < source.dimension(); ++c) table.set(first + i, c, rows[i * source.dimension() + c] - mean[c]);
  });
  return table;
}

std::string describe(const Model& model, const Options& options, SolverOutcome outcome) {
  const double worst = model.residuals.empty() ? 0 : *std::max_element(model.residuals.begin(), model.residuals.end());
  if (outcome == SolverOutcome::converged)
    return fmt::format("all {} residuals are below {:g}", model.modes(), options.tolerance);
  const auto reached =
      std::count_if(model.residuals.begin(), model.residuals.end(), [&](double r) { return r <= options.tolerance; });
  if (outcome == SolverOutcome::floor)
    return fmt::format(
        "{} of {} residuals reached {:g}; the others stand at the floor of {} arithmetic (largest {:.1e}); ask for "
        "`tolerance = {:.0e}` or `precision = fp64`",
        reached, model.modes(), options.tolerance, traits(model.precision).name, worst, 2 * worst);
  return fmt::format("{} of {} residuals reached {:g} when the passes ran out (largest {:.1e}); raise `max_passes` or `basis`",
                     reached, model.modes(), options.tolerance, worst);
}

constexpr std::size_t worth_forecasting = 8192;  // rows: below, a fit is over before it has been measured

std::string about(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

void announce(const Forecast& forecast, ProgressWatch& watch) {
  constexpr double long_seconds = 10, much_memory = 1e9;
  if (forecast.seconds < long_seconds && forecast.memory_bytes < much_memory) return;
  std::string line = fmt::format("expected: about {}, {} passes, {} of them over all rows, {:.1f} GB of memory",
                                 about(forecast.seconds), forecast.passes, forecast.full_passes, forecast.memory_bytes / 1e9);
  if (const auto free = static_cast<double>(available_memory_bytes()); free > 0)
    line += fmt::format(" ({:.0f} GB are free)", free / 1e9);
  watch.note(line);
}

Model fit_all_rows(PointSource& source, const Options& wishes) {
  const auto started = std::chrono::steady_clock::now();
  Options options = wishes;
  options.memory_bytes = memory_budget(options);
  ProgressWatch watch(options.observer);
  watch.stage("reading", source.rows(), 0, options.modes);
  const PointSummary summary = summarise(source);
  refuse_what_precision_cannot_hold(summary, options.precision, options.beta);
  const std::string dwarfing = describe_dwarfing(summary);
  if (!dwarfing.empty()) watch.note(dwarfing);
  auto backend = make_backend({options.backend, options.isa, options.threads});
  if (summary.rows >= worth_forecasting) {
    const FitForecast forecast = forecast_fit(*backend, source, summary, options);
    watch.expect(forecast);
    announce(forecast.total(), watch);
  }
  Comm single_process;
  PotentialRules potential;
  potential.modes = options.modes;
  potential.components = std::max<std::size_t>(1, options.components);
  FitContext context{*backend, single_process, source, summary, options, potential, watch};

  Model model;
  model.alpha = options.alpha;
  model.n = summary.rows;
  model.dimension = summary.dimension;
  model.mean = summary.mean;
  model.precision = options.precision.back();

  FinalSolution final = options.beta ? solve_at(context, *options.beta) : search_bandwidth(context);
  model.beta = final.beta;
  model.sweep = std::move(final.sweep);
  model.beta_exponent = final.exponent.value;
  model.beta_exponent_error = final.exponent.uncertainty;
  model.passes = final.passes;
  model.full_passes = final.full_passes;
  model.columns = final.columns;
  const std::string localised = assemble(model, final.solution, *backend, final.rung->points());
  const SolverOutcome outcome = final.solution.spectrum.outcome;
  model.outcome = describe(model, options, outcome);
  if (!final.verdict.empty()) model.outcome = final.verdict + "; " + model.outcome;
  if (!localised.empty()) model.outcome += "; " + localised;
  const std::string separation = describe_separation(model, final.solution.support, potential.components);
  if (!separation.empty()) model.outcome += "; " + separation;
  if (!dwarfing.empty()) model.outcome += "; " + dwarfing;
  model.converged = outcome == SolverOutcome::converged && final.admissible;
  final.rung.reset();
  if (options.keep_points) model.points = centred_table(source, summary.mean, traits(model.precision).wide_panels);
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  model.peak_rss_bytes = peak_resident_bytes();
  return model;
}

}  // namespace

Model fit(PointSource& source, const Options& wishes) {
  const Options options = checked_options(wishes, source.rows());
  require_memory(source.rows(), source.dimension(), options);
  const auto started = std::chrono::steady_clock::now();
  ProgressWatch watch(options.observer);
  if (options.modes < wishes.modes)
    watch.note(
        fmt::format("{} modes: {} rows have no more", options.modes, source.rows() - trimmed_rows(options.trim, source.rows())));
  if (options.trim <= 0 && !options.trim_isolated) return fit_all_rows(source, options);
  watch.stage("trim", source.rows(), 0, 0);
  const std::vector<std::size_t> left_out = rows_to_trim(source, options, watch);
  if (left_out.empty()) {
    watch.note("no row is isolated: nothing is left out");
    return fit_all_rows(source, options);
  }
  SomeRows kept(source, other_rows(source.rows(), left_out));
  Options with_points = options;
  with_points.keep_points = true;
  with_points.trim = 0;
  with_points = checked_options(with_points, kept.rows());
  Model model = fit_all_rows(kept, with_points);
  place_rows(model, source, left_out, options, watch);
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return model;
}

Model fit(PointsView points, const Options& options) {
  ViewSource source(points);
  return fit(source, options);
}

}  // namespace fd
