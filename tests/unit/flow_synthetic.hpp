// Potentials without a kernel: a table whose V(beta) is a formula, with walls, holes, localised modes and noise where a test
// wants them, and a run of the flow on it. The noise is a function of beta and the seed, so a probe can be repeated.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "flow/flow.hpp"

namespace fd::synthetic {

struct World {
  // All lengths are chosen such that the sampling well lies at beta = well, where V_bias = depth.
  double well = 1;
  double depth = 0.5;
  double dimension = 6;
  double gap = 0.1;                                       // at the well; it falls like 1 / beta
  double wall = std::numeric_limits<double>::infinity();  // hard Perron wall; the gap falls to kappa eta there
  double wall_slope = 0;                                  // d log gap / d log beta near it; 0: the gap drops at once
  bool curved = false;                                    // no term is a power: the heat action saturates, so does n_eff
  double noise = 0;                                       // relative, on each term
  std::uint64_t seed = 1;
  double localised_from = std::numeric_limits<double>::infinity();
  double localised_to = std::numeric_limits<double>::infinity();
  std::size_t localised_count = 5;
  std::function<bool(double)> fails = [](double) { return false; };
  std::function<double(double)> factor = [](double) { return 1.0; };  // of V, for more wells

  double stat_power() const { return 0.5 + dimension / 4; }

  Probe probe(double beta, bool noisy = true) const {
    const PotentialRules rules;
    Probe p;
    p.n = 4096;
    p.beta = beta;
    p.d_hat = dimension;
    const double x = std::log(beta / well);
    p.v_bias = depth * std::exp(-x) * factor(beta / well);
    p.v_stat = depth / stat_power() * std::exp(stat_power() * x) * factor(beta / well);  // minimum of the sum at x = 0
    if (curved) {
      const double n_eff = 1 / (p.v_stat * p.v_stat * p.v_bias) + 0.5 / depth / depth / depth;
      p.v_bias = std::log1p(p.v_bias);
      p.v_stat = 1 / std::sqrt(n_eff * p.v_bias);
    }
    const double least = wall_gap(p.precision, rules);
    p.perron_gap = std::min(0.5, gap / (beta / well));
    if (wall_slope > 0) p.perron_gap = std::min(p.perron_gap, least * std::pow(beta / wall, -wall_slope));
    if (beta >= wall) p.perron_gap = 0.5 * least;
    p.v_mach = std::pow(least / p.perron_gap, rules.exponent);
    if (noisy && noise > 0) {
      std::uint64_t where;
      const double rounded = std::round(std::log(beta) * 1e6);
      std::memcpy(&where, &rounded, sizeof where);
      const Random random(seed, 7);
      p.v_bias *= 1 + noise * random.normal(2 * where);
      p.v_stat *= 1 + noise * random.normal(2 * where + 1);
    }
    p.v = p.v_bias + p.v_stat + p.v_mach;
    p.localised = beta >= localised_from && beta < localised_to ? localised_count : 0;
    p.passes = 10;
    p.outcome = p.perron_gap <= least ? "wall" : "resolved";
    if (fails(beta)) {
      p.outcome = "failed";
      p.v = p.v_bias = p.v_stat = p.v_mach = p.perron_gap = std::numeric_limits<double>::quiet_NaN();
    }
    return p;
  }

  // Least V over the admissible bandwidths from `low` to `high`, and where, by scanning.
  std::pair<double, double> truth(double low, double high, bool heed_localised = false) const {
    std::pair<double, double> best{0, std::numeric_limits<double>::infinity()};
    for (double x = std::log(low); x <= std::log(high); x += 1e-3) {
      const Probe p = probe(std::exp(x), false);
      if (p.outcome != "resolved" || (heed_localised && p.localised > 1)) continue;
      if (p.v < best.second) best = {p.beta, p.v};
    }
    return best;
  }
};

struct Trail {
  std::vector<Probe> history;
  Step step;
};

inline Trail run(const World& world, const FlowRules& rules, const std::vector<Probe>& known = {}) {
  Trail r{known, {}};
  for (;;) {
    r.step = decide(r.history, rules);
    if (r.step.kind != Step::Kind::probe) return r;
    if (r.history.size() > rules.most_probes) return r;  // a test that counts probes will say so
    r.history.push_back(world.probe(r.step.beta));
  }
}

inline FlowRules rules_for(Select select, double start) {
  FlowRules rules;
  rules.select = select;
  rules.beta_start = start;
  rules.potential.modes = 10;
  return rules;
}

}  // namespace fd::synthetic
