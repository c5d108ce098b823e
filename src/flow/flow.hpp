// The flow: from the probes so far to the next bandwidth, or to the answer. One pure function.
//
// Guarantees: decide() depends on nothing but its arguments, so a run is resumed by loading its history and calling it again;
// scaling every bandwidth by a constant scales every decision by it; it never accepts a bandwidth that was seen to be
// inadmissible; it ends after at most `most_probes` probes. Calling it again once the accepted bandwidth has been probed
// (and was resolved) accepts that same bandwidth.
// Does not know: clocks, files, back-ends, rungs. The history is that of one n and one precision.
//
// What a probe is worth here:
//   good       outcome "resolved" and a finite V
//   wall       outcome "wall", or a Perron gap <= kappa eta; nothing at or above its beta is admissible
//   flat       outcome "flat": half of the wanted eigenvalues are noise; nothing at or below its beta is admissible. (The selectors that walk
//              up from a broad kernel, paper and continuation, walk on.)
//   localised  outcome "sparse"; Select::robust only: more than max(1, fraction * modes) localised modes (none may be
//              when only one or two are asked for: then a single one is half of the answer). One localised mode of three to
//              nineteen is an outlier, not a wall.
//   hole       "failed", "not converged", a V that is not finite: never chosen; the flow tries once 10 % beside it; two
//              in a row are a wall.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/model.hpp>
#include <flashdiffusion/options.hpp>

#include "flow/potential.hpp"

namespace fd {

struct Step {
  enum class Kind { probe, accept, give_up };
  Kind kind = Kind::probe;
  double beta = 0;     // to probe; the answer (it need not have been probed); the least bad one
  std::string reason;  // for a human
  // What made the minimum that is accepted: "resolution" (sampling), "precision" (the Perron wall and the barrier before it),
  // "localised" (modes on a few rows), "edge" (V has no minimum inside the range that was seen; the reason says which side
  // it fell off and what to try). Empty for a probe.
  std::string boundary;
  double unconstrained_minimiser = std::numeric_limits<double>::quiet_NaN();  // robust: what `minimum` would say, if known
};

struct FlowRules {
  Select select = Select::robust;
  double beta_start = 0;
  double beta_min = 0;
  double beta_max = std::numeric_limits<double>::infinity();
  double first_ratio = 2;   // first step of the bracket; near 1.25 where beta_start is carried from a smaller rung
  double tolerance = 0.01;  // relative, on V at the answer against its minimum
  std::size_t most_probes = 40;
  double localised_fraction = 0.1;  // of the requested modes
  PotentialRules potential;         // modes, components, kappa, exponent
};

Step decide(const std::vector<Probe>& history, const FlowRules& rules);

}  // namespace fd
