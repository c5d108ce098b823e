#include "fit/outcome.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/components.hpp"
#include "base/counted.hpp"
#include "base/worst.hpp"
#include "fit/rung_solver.hpp"
#include "flow/potential.hpp"

namespace fd {
namespace {

constexpr std::size_t named_rows = 6;  // of those that a sentence is about

// As many eigenvalues as cannot be told from 1: within the precision's own uncertainty of it, and as the first ones of many that are 1 are
// known to their residuals only, within these.
std::size_t ones(const Model& model) {
  const double gap = wall_gap(model.precision, PotentialRules{});
  constexpr double known = 1e-4;  // of a larger residual nothing follows
  std::size_t count = 0;
  for (std::size_t j = 0; j < model.modes(); ++j)
    count += model.eigenvalues[j] >= 1 - std::max(gap, model.residuals[j] <= known ? model.residuals[j] : 0) ? 1 : 0;
  return count;
}

}  // namespace

bool trustworthy(const Model& model, const Options& options) {
  const bool something = !model.eigenvalues.empty() && std::abs(model.eigenvalues.front()) > options.tolerance;
  return something && ones(model) < model.modes() && model.perron_residual <= traits(model.precision).row_error;
}

std::string describe_residuals(const Model& model, const Options& options, SolverOutcome outcome) {
  double worst = 0;
  for (const double residual : model.residuals) worst = worse(worst, residual);
  std::string text;
  if (model.modes() < options.modes)
    text = fmt::format("only {} of {} {} found; ", model.modes(), counted(options.modes, "mode"),
                       one_or_many(model.modes(), "was", "were"));
  if (outcome == SolverOutcome::converged)
    return text + fmt::format("{} below {:g}",
                              model.modes() == 1 ? "the residual is" : fmt::format("all {} residuals are", model.modes()),
                              options.tolerance);
  const auto reached = static_cast<std::size_t>(
      std::count_if(model.residuals.begin(), model.residuals.end(), [&](double r) { return r <= options.tolerance; }));
  text += fmt::format("{} of {} reached {:g}", reached, counted(model.modes(), "residual"), options.tolerance);
  if (outcome == SolverOutcome::floor)
    return text + fmt::format("; {} at the floor of {} arithmetic (largest {:.1e}); ask for `tolerance = {:.0e}`{}",
                              reached == 0                   ? one_or_many(model.modes(), "it stands", "all stand")
                              : reached + 1 == model.modes() ? "the other stands"
                                                             : "the others stand",
                              traits(model.precision).name, worst, 2 * worst,
                              traits(model.precision).wide_panels ? "" : " or `precision = fp64`");
  return text + fmt::format(" when the passes ran out (largest {:.1e}); raise `max_passes` or `basis`", worst);
}

std::string describe_small(const Model& model, const Options& options) {
  std::size_t first = model.modes();
  while (first > 0 && std::abs(model.eigenvalues[first - 1]) <= options.tolerance &&
         model.residuals[first - 1] <= options.tolerance)
    --first;
  if (first == model.modes()) return {};
  const bool one = first + 1 == model.modes();
  const std::string which =
      one ? fmt::format("eigenvalue {} is", first + 1) : fmt::format("eigenvalues {} to {} are", first + 1, model.modes());
  return fmt::format("{} within the tolerance of zero: nothing else is known of {} (ask for {}, or for a smaller `tolerance`)",
                     which, one ? "its mode" : "their modes", first > 0 ? counted(first, "mode") : "a larger `beta`");
}

std::string describe_ones(const Model& model) {
  const std::size_t count = ones(model);
  if (count == 0) return {};
  if (count == model.modes())
    return fmt::format(
        "{} 1 as far as {} and the residuals can tell: at this bandwidth the rows fall apart, and {} an arbitrary choice; use a "
        "smaller `beta`",
        count == 1 ? "the eigenvalue is" : fmt::format("all {} eigenvalues are", count), traits(model.precision).name,
        one_or_many(count, "the mode is", "the modes are"));
  return fmt::format(
      "{} of {} eigenvalues {} 1 as far as {} and the residuals can tell: the rows fall into at least {} pieces that this "
      "bandwidth does not connect",
      count, model.modes(), one_or_many(count, "is", "are"), traits(model.precision).name, count + 1);
}

std::string describe_localised(const std::vector<double>& v, const std::vector<double>& support, std::size_t rows,
                               const std::vector<std::string>& names) {
  const std::size_t k = support.size();
  std::vector<std::size_t> where;
  std::size_t count = 0;
  for (std::size_t j = 0; j < k; ++j) {
    if (!(support[j] < localised_below(rows))) continue;
    ++count;
    std::size_t largest = 0;
    for (std::size_t i = 1; i < rows; ++i)
      if (std::abs(v[i * k + j]) > std::abs(v[largest * k + j])) largest = i;
    where.push_back(largest);
  }
  if (count == 0) return {};
  std::sort(where.begin(), where.end());
  where.erase(std::unique(where.begin(), where.end()), where.end());
  return fmt::format("{} of {} {} on fewer than {:.2g} rows (most of {} on {})", count, counted(k, "mode"),
                     one_or_many(count, "lives", "live"), localised_below(rows), one_or_many(count, "it", "them"),
                     listed_rows(where, named_rows, names));
}

std::string describe_separation(const Model& model, const std::vector<double>& support, std::size_t components, bool asked) {
  constexpr double clearly_below = 0.9;
  const std::size_t near = next_to_one(model.eigenvalues);
  const auto end = support.begin() + static_cast<std::ptrdiff_t>(near);
  const auto alone =
      static_cast<std::size_t>(std::count_if(support.begin(), end, [&](double rows) { return rows < localised_below(model.n); }));
  if (components > 1 && asked && near + 1 < components)
    return fmt::format("the bandwidth is judged past {} components, as was asked, though the eigenvalues show {}", components,
                       near == 0 ? "no separate ones" : fmt::format("{} nearly separate ones", near + 1));
  if (components > 1)
    return fmt::format("the rows fall into {} nearly separate components, and the bandwidth is judged past them", components);
  if (near == 0 || near == model.modes() || model.eigenvalues[near] > clearly_below) return {};
  if (alone == near)
    return fmt::format("{} nearly isolated {} the bandwidth down: leave {} out of the fit (`trim`)", near,
                       one_or_many(near, "row holds", "rows hold"), one_or_many(near, "it", "them"));
  return fmt::format("the rows fall into {0} nearly separate components: try `components = {0}`", near + 1);
}

std::string describe_rows(const std::vector<std::size_t>& some, std::size_t rows, const std::vector<std::string>& names) {
  return fmt::format("{} of {} ({})", some.size(), counted(rows, "row"), listed_rows(some, named_rows, names));
}

std::string describe_aside(const Model& model, const std::optional<AsideGain>& gain) {
  if (model.aside.empty()) return {};
  std::string text = fmt::format("{} that the others do not resolve {} placed by extension",
                                 describe_rows(model.aside, model.n, model.names), one_or_many(model.aside.size(), "is", "are"));
  if (gain)
    text +=
        fmt::format(": {} a first search with all rows led to beta {:.3g}, without those to {:.3g}",
                    gain->n < model.n ? fmt::format("on a sample of {} rows", gain->n) : "here", gain->beta_of_all, gain->beta);
  return text;
}

}  // namespace fd
