#include "fit/drop_localised.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "fit/forecast.hpp"

namespace fd {
namespace {

// The modes `chosen`, in this order, and no others.
void choose(Backend& backend, const RungSolver& rung, Solution& solution, const std::vector<std::size_t>& chosen) {
  Spectrum& spectrum = solution.spectrum;
  const std::size_t k = spectrum.values.size();
  Eigen::MatrixXd pick = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(chosen.size()));
  const auto only = [&](std::vector<double>& of) {
    std::vector<double> some;
    for (const std::size_t j : chosen) some.push_back(of[j]);
    of = std::move(some);
  };
  for (std::size_t m = 0; m < chosen.size(); ++m) pick(static_cast<Eigen::Index>(chosen[m]), static_cast<Eigen::Index>(m)) = 1;
  auto vectors = backend.panel(rung.points().layout(), chosen.size(), rung.precision());
  backend.combine({*spectrum.vectors, 0, k}, pick, *vectors, false);
  spectrum.vectors = std::move(vectors);
  only(spectrum.values);
  only(spectrum.residuals);
  only(solution.support);
}

}  // namespace

LeftOut drop_localised(FitContext& context, Options& options, FinalSolution& final) {
  const std::size_t wanted = options.modes, most = std::min(solved_modes(options), final.rung->size() - 1);
  std::shared_ptr<Solution>& solution = final.solution;
  const auto localised = [&](std::size_t j) { return solution->support[j] < localised_below(final.rung->size()); };
  const auto count = [&] {
    std::size_t n = 0;
    for (std::size_t j = 0; j < solution->support.size(); ++j) n += localised(j) ? 1 : 0;
    return n;
  };
  // each solve starts from the one before; what it finds beyond may be localised too
  while (solution->support.size() - count() < wanted && options.modes < most) {
    options.modes = std::min(most, std::max(options.modes + 2, wanted + 2 * count() + 2));
    const std::size_t passes = final.rung->passes(), columns = final.rung->columns();
    solution = final.rung->solve(final.beta);
    final.sweep.push_back(solution->probe);
    final.passes += final.rung->passes() - passes;
    final.full_passes += final.rung->passes() - passes;
    final.columns += final.rung->columns() - columns;
  }
  options.modes = wanted;

  std::vector<std::size_t> chosen;
  std::vector<std::string> left_out;
  for (std::size_t j = 0; j < solution->support.size() && chosen.size() < wanted; ++j) {
    if (localised(j)) left_out.push_back(fmt::format("{:.4g}", solution->spectrum.values[j]));
    else chosen.push_back(j);
  }
  if (left_out.empty() && chosen.size() == solution->spectrum.values.size()) return {};
  const std::size_t found = chosen.size();
  if (found == 0)  // the leading ones, then
    for (std::size_t j = 0; j < std::min(wanted, solution->support.size()); ++j) chosen.push_back(j);
  choose(context.backend, *final.rung, *solution, chosen);
  if (found == 0)
    return {fmt::format("all {} that were solved for live on a few rows: the leading ones were kept; use a smaller `beta`",
                        counted(left_out.size(), "mode")),
            false};
  if (left_out.empty()) return {};
  return {fmt::format(
              "{} on fewer than {:.2g} rows left out ({} {})", counted(left_out.size(), "mode"),
              localised_below(final.rung->size()), one_or_many(left_out.size(), "eigenvalue", "eigenvalues"),
              left_out.size() <= 6 ? fmt::format("{}", fmt::join(left_out, ", ")) : left_out.front() + " to " + left_out.back()),
          found >= std::min(wanted, final.rung->size() - 1)};
}

}  // namespace fd
