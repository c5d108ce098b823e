// The one place where effects happen in sequence: read, choose the bandwidth, solve, assemble the model.
#include <flashdiffusion/fit.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "device/passed_over.hpp"
#include "fit/backend_of.hpp"
#include "fit/bandwidth_search.hpp"
#include "fit/centred_source.hpp"
#include "fit/check_options.hpp"
#include "fit/checksummed_source.hpp"
#include "fit/drop_localised.hpp"
#include "fit/exact_rank.hpp"
#include "fit/fit_identity.hpp"
#include "fit/forecast.hpp"
#include "fit/journal.hpp"
#include "fit/kept_points.hpp"
#include "fit/least_time.hpp"
#include "fit/outcome.hpp"
#include "fit/resources.hpp"
#include "fit/right_eigenvectors.hpp"
#include "fit/rung_solver.hpp"
#include "fit/trim.hpp"

namespace fd {
namespace {

// Returns what is to be said about modes on a few rows.
std::string assemble(Model& model, Solution& solution, Backend& backend, const Points& points) {
  const std::size_t k = solution.spectrum.values.size();
  model.eigenvalues = solution.spectrum.values;
  model.residuals = solution.spectrum.residuals;
  model.perron_residual = solution.perron_residual;
  std::vector<double> v(points.rows() * k);
  backend.download({*solution.spectrum.vectors, 0, k}, v.data());
  std::string localised = describe_localised(v, solution.support, points.rows(), model.names);
  model.psi = right_eigenvectors(v, solution.d, k, traits(model.precision).wide_panels);
  model.q = std::move(solution.q);
  model.d = std::move(solution.d);
  for (std::size_t i = 0; i < model.d.size(); ++i)
    if (model.d[i] == 0) model.aside.push_back(i);
  return localised;
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

// `whole`: the points that `source` has rows of; `asked`: the options that the fit of these was asked for.
Model fit_all_rows(PointSource& source, ChecksummedSource& whole, const Options& wishes, const Options& asked) {
  const auto started = std::chrono::steady_clock::now();
  Options options = wishes;
  ProgressWatch watch(options.observer);
  watch.stage("reading", source.rows(), 0, options.modes);
  PointSummary summary = summarise(source, options.precision);
  refuse_what_precision_cannot_hold(summary, options.precision, options.beta);
  reduce_to_rank(source, summary, options.precision, options.seed);
  if (const std::string dwarfing = describe_dwarfing(summary, !options.beta, source.row_names()); !dwarfing.empty())
    watch.note(dwarfing);
  const std::size_t keep = keep_bytes(summary.rows, summary.coordinates(), options);
  auto backend = backend_of(options, keep);
  if (const std::string why = passed_over(options.backend, backend->name()); !why.empty()) watch.note(why);
  std::optional<Forecast> expected;
  if (summary.rows >= worth_forecasting) {
    const std::size_t ranks = ranks_of(options);
    const auto of_a_rank = ranks > 1 ? backend_of_a_rank(options, keep / ranks) : nullptr;
    const FitForecast forecast = forecast_fit(of_a_rank ? *of_a_rank : *backend, source, summary, options);
    watch.expect(forecast);
    announce(forecast.total(), watch);
    expected = forecast.total();
  }
  PotentialRules potential;
  potential.modes = options.modes;
  potential.components = options.components.value_or(1);
  const bool keeps = options.checkpoint_from <= 0 || (expected && expected->seconds >= options.checkpoint_from);
  Journal journal(keeps ? options.checkpoint : nullptr,
                  options.checkpoint != nullptr
                      ? fit_identity(asked, backend->isa(), whole.rows(), whole.dimension(), whole.checksum())
                      : Journal::Identity(),
                  options.checkpoint_every, [&](const std::string& line) { watch.note(line); });
  FitContext context{*backend, source, summary, options, potential, watch, journal};

  Model model;
  model.alpha = options.alpha;
  model.n = summary.rows;
  model.dimension = summary.dimension;
  model.names = source.row_names();
  model.mean = summary.mean;
  model.precision = options.precision.back();

  FinalSolution final = options.beta ? solve_at(context, *options.beta) : search_bandwidth(context);
  const LeftOut dropped = options.drop_localised ? drop_localised(context, options, final) : LeftOut();
  journal.finish();
  model.beta = final.beta;
  model.sweep = std::move(final.sweep);
  model.beta_exponent = final.exponent.value;
  model.beta_exponent_error = final.exponent.uncertainty;
  model.passes = final.passes;
  model.full_passes = final.full_passes;
  model.columns = final.columns;
  const std::string localised = assemble(model, *final.solution, *backend, final.rung->points());
  const SolverOutcome outcome = final.solution->spectrum.outcome;
  const std::string pieces =
      options.beta ? describe_ones(model)
                   : describe_separation(model, final.solution->support, final.components, options.components.has_value());
  for (const std::string& part : {final.verdict, describe_residuals(model, options, outcome), describe_small(model, options),
                                  describe_aside(model, final.gain), localised, dropped.text, pieces,
                                  describe_dwarfing(summary, !options.beta, model.names, model.aside)})
    if (!part.empty()) model.outcome += (model.outcome.empty() ? "" : "; ") + part;
  const bool all = dropped.complete && model.modes() >= std::min(options.modes, final.rung->size() - 1);
  model.converged = all && outcome == SolverOutcome::converged && final.admissible && trustworthy(model, options);
  final.rung.reset();
  const bool aside = !model.aside.empty();
  if (options.keep_points || aside)
    model.points = kept_points(source, summary.mean, model.beta, traits(model.precision).wide_panels);
  if (aside) place_aside(model, source, options);
  if (!options.keep_points) model.points = Table();
  model.seconds = journal.seconds_before() + std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  model.peak_rss_bytes = peak_resident_bytes();
  if (expected) {
    model.forecast_seconds = expected->seconds;
    model.forecast_passes = expected->passes;
    model.least_seconds = least_seconds(*backend, model, summary.coordinates());
  }
  return model;
}

Model fit_or_trim(ChecksummedSource& source, const Options& wishes) {
  const Options options = checked_options(wishes, source.rows());
  require_memory(source.rows(), source.dimension(), options);
  const auto started = std::chrono::steady_clock::now();
  ProgressWatch watch(options.observer);
  if (options.modes < wishes.modes)
    watch.note(
        fmt::format("{} modes: {} rows have no more", options.modes, source.rows() - trimmed_rows(options.trim, source.rows())));
  for (const std::string& line : taken_otherwise(options, source.rows())) watch.note(line);
  if (trimmed_rows(options.trim, source.rows()) == 0) return fit_all_rows(source, source, options, options);
  watch.stage("trim", source.rows(), 0, 0);
  const std::vector<std::size_t> left_out = rows_to_trim(source, options, watch);
  SomeRows kept(source, other_rows(source.rows(), left_out));
  Options with_points = options;
  with_points.keep_points = true;
  with_points.trim = 0;
  with_points = checked_options(with_points, kept.rows());
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
  const double before = seconds();
  Model model = fit_all_rows(kept, source, with_points, options);
  const double after = seconds();
  place_rows(model, source, left_out, options);
  model.names = source.row_names();
  model.seconds += before + seconds() - after;
  return model;
}

}  // namespace

Model fit(PointSource& source, const Options& options) {
  ChecksummedSource watched(source, options.observer);
  Model model = fit_or_trim(watched, options);
  model.points_checksum = watched.checksum();
  return model;
}

Model fit(PointsView points, const Options& options) {
  ViewSource source(points);
  return fit(source, options);
}

}  // namespace fd
