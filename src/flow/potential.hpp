// The resolution potential V = V_bias + V_stat + V_mach of one probe (the paper's "beta-function flow"), computed from what a
// probe measured: n, precision, S_off(beta), S_off(2 beta) and the nontrivial eigenvalues of P. Pure arithmetic.
//
// Guarantees: never throws; nothing here turns a probe that did not work out into one that looks resolved. A quantity that
// cannot be known is NaN (or infinite, where that is its limit), and the outcome then is not "resolved".
// Does not know: how the probe was made, nor which bandwidth comes next.
#pragma once

#include <cstddef>

#include <flashdiffusion/model.hpp>

namespace fd {

struct PotentialRules {
  std::size_t modes = 16;      // nontrivial modes that were asked for
  std::size_t components = 1;  // the Perron gap is judged past this many components
  double kappa = 10;           // safety factor of the Perron wall
  double exponent = 6;         // of the smooth barrier before it
};

// kappa * eta of the precision: a Perron gap at or below it cannot be told from zero.
double wall_gap(Precision precision, const PotentialRules& rules);

// Fills n_eff, d_hat, perron_gap, v_bias, v_stat, v_mach, v and the outcome from n, precision, s_off, s_off_2beta, eigenvalues
// (nontrivial, descending; the trivial one is 1 exactly).
//   perron_gap = 1 - eigenvalues[components - 1]
//   v_bias     = median of -log(max(lambda_j, eta)) over the requested modes past the admitted components (those the probe knows)
// Outcome: "wall" when perron_gap <= kappa eta, whatever it was before (one Ritz value above 1 - kappa eta proves it, so an
// unfinished solve does too); "failed" when V is not a finite number; an empty outcome becomes "resolved", or "flat" where the middle one of
// these eigenvalues is not above eta: the kernel is so broad that half of what was asked for is noise. Any other stays ("sparse": more rows
// than may be set aside are not resolved, and nothing was solved).
void complete(Probe& probe, const PotentialRules& rules);

}  // namespace fd
