// Block thick-restart Lanczos for the largest eigenvalues of a symmetric operator, in as few applications as possible.
//
// The basis V and its image A V are both kept, so every Rayleigh–Ritz residual A V y - theta V y is measured, not estimated. Late
// directions have a small share in what is wanted, so their images may be of low precision (Operator::apply_low_precision);
// a bound on what that may hide is part of the residual. The basis grows along the residuals of the leading Ritz pairs that have
// not converged. From a random start those residuals span just the next Krylov block, and this is block Lanczos with thick restart (its Krylov–Schur form); from a carried subspace, which is not
// a Krylov space, it is the generalised Davidson method, which does not stagnate there. One algorithm for both.
//
// Sees a Space and an Operator, and nothing of back-ends. "Not converged" is a result.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "device/space.hpp"
#include "operator/operator.hpp"

namespace fd {

struct SolverState {
  std::size_t passes = 0;
  std::size_t converged = 0;
  double worst_residual = 0;
};

// Keeps the state of a long solve, so that another can go on from there.
class SolveKeeper {
 public:
  virtual ~SolveKeeper() = default;
  virtual bool due() = 0;  // asked once a pass
  virtual void keep(const std::function<void(Archive&)>& state) = 0;
  virtual void resumed() {}  // a state that was kept has been read
};

struct SolverOptions {
  std::size_t modes = 16;
  std::size_t carry = 0;    // further Ritz vectors to return, for a warm start elsewhere
  std::size_t block = 16;   // columns of a pass from a cold start
  std::size_t basis = 128;  // columns of V before a restart
  std::size_t most_passes = 100;
  double tolerance = 1e-5;   // on each residual, relative to the largest eigenvalue's scale (1 for a diffusion operator)
  double floor = 0;          // residuals below this are the arithmetic's own noise
  bool values_only = false;  // stop when the median of -log(theta) is known to value_tolerance, relative
  double value_tolerance = 1e-2;
  // What residuals consisted of in a similar solve (Spectrum::latest): taken to be so here until this one has seen its own.
  double latest = std::numeric_limits<double>::infinity();
  double ceiling = std::numeric_limits<double>::infinity();  // a Ritz value number ceiling_index above this ends the solve:
  std::size_t ceiling_index = 0;                             // Ritz values approach from below, so the eigenvalue is above it too
  std::size_t witnesses = 1;                                 // random columns that ride along with a warm start
  std::uint64_t seed = 42;
  std::function<void(const SolverState&)> progress;
  SolveKeeper* keeper = nullptr;  // also given the last state that can be gone on from when an application throws
};

enum class SolverOutcome {
  converged,   // every residual is below the tolerance (or, for values only, every value is known)
  exhausted,   // the passes ran out
  floor,       // the residuals stopped falling at the arithmetic's floor
  ceiling,     // a Ritz value passed the ceiling
  not_finite,  // a product held NaN or infinity: there is no spectrum, and what was computed is not returned
};
std::string_view name(SolverOutcome outcome);

struct Spectrum {
  // Descending, `modes` of them; fewer where the space is smaller or the passes ran out before the basis was that large. For values only,
  // corrected.
  std::vector<double> values;
  std::vector<double> residuals;   // |A v - theta v|, measured; with low-precision images, a bound on it
  std::unique_ptr<Panel> vectors;  // modes + carry columns or as many as there are, orthonormal; null if not finite
  SolverOutcome outcome = SolverOutcome::exhausted;
  double latest = std::numeric_limits<double>::infinity();  // the largest Rayleigh quotient among the directions that joined last
  std::size_t passes = 0, columns = 0;
};

// `locked`: orthonormal eigenvectors that are known and kept out (the Perron vector); may be null. `start`: vectors of a warm
// start, any number, need not be orthonormal; may be null. `image`: A times the start, where it is known already (the pass that
// made it is counted as the first); may be null.
Spectrum block_lanczos(Space& space, Operator& a, const SolverOptions& options, Panel* locked = nullptr, Panel* start = nullptr,
                       Panel* image = nullptr);

// Goes on from what a keeper was given, with the same operator, options and locked vectors: the same bits as if nothing had been between.
Spectrum resume_block_lanczos(Space& space, Operator& a, const SolverOptions& options, Panel* locked, Archive& state);

}  // namespace fd
