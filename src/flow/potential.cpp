#include "flow/potential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fd {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

double median(std::vector<double> values) {
  if (values.empty()) return nan;
  for (double value : values)
    if (std::isnan(value)) return nan;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// Of the modes past the admitted components: those before sit at 1 by construction and say nothing about resolution.
double heat_action(const Probe& probe, const PotentialRules& rules) {
  std::vector<double> actions;
  const std::size_t first = std::max<std::size_t>(rules.components, 1) - 1;
  const std::size_t last = std::min(std::max(rules.modes, first + 1), probe.eigenvalues.size());
  for (std::size_t j = first; j < last; ++j) {
    const double lambda = probe.eigenvalues[j];
    // below eta an eigenvalue is the arithmetic's noise, sign included: all that is known is that it is no larger
    actions.push_back(std::isnan(lambda) ? nan : -std::log(std::max(lambda, traits(probe.precision).eta)));
  }
  return median(std::move(actions));
}

}  // namespace

double wall_gap(Precision precision, const PotentialRules& rules) { return rules.kappa * traits(precision).eta; }

void complete(Probe& probe, const PotentialRules& rules) {
  const double n = static_cast<double>(probe.n - probe.aside);
  // Where S_off(2 beta) underflows there are no neighbours left: n_eff tends to 0, not to the infinity of the quotient.
  probe.n_eff = probe.s_off_2beta > 0 ? probe.s_off / probe.s_off_2beta * (probe.s_off / n) : 0;
  probe.d_hat = probe.s_off > 0 && probe.s_off_2beta > 0 ? -2 * std::log2(probe.s_off_2beta / probe.s_off) : nan;
  if (std::isnan(probe.s_off) || std::isnan(probe.s_off_2beta) || probe.n == 0) probe.n_eff = nan;

  const std::size_t judged = std::max<std::size_t>(rules.components, 1) - 1;
  probe.perron_gap = judged < probe.eigenvalues.size() ? 1 - probe.eigenvalues[judged] : nan;
  const double least = wall_gap(probe.precision, rules);

  probe.v_bias = heat_action(probe, rules);
  const double resolvable = probe.n_eff * probe.v_bias;
  probe.v_stat = std::isnan(resolvable) ? nan : resolvable > 0 ? 1 / std::sqrt(resolvable) : infinity;
  if (std::isnan(probe.perron_gap)) probe.v_mach = nan;
  else probe.v_mach = probe.perron_gap > 0 ? std::pow(least / probe.perron_gap, rules.exponent) : infinity;
  probe.v = probe.v_bias + probe.v_stat + probe.v_mach;

  if (probe.outcome == "sparse") return;
  if (probe.perron_gap <= least) probe.outcome = "wall";
  else if (probe.outcome == "wall") return;  // proved by whoever stopped the solve
  else if (!std::isfinite(probe.v) && probe.outcome != "not converged") probe.outcome = "failed";
  else if (probe.outcome.empty()) probe.outcome = probe.v_bias < -std::log(traits(probe.precision).eta) ? "resolved" : "flat";
}

}  // namespace fd
