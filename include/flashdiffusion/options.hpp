// Everything a fit can be told. The defaults are what a user who knows nothing should get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <flashdiffusion/precision.hpp>

namespace fd {

// How the bandwidth is chosen when none is given.
enum class Select { robust, minimum, paper, continuation };

// Where a fit is; given to an Observer from the calling thread, at most a few times a second.
struct Progress {
  std::string stage;  // "reading", "probe", "solve", "extend"
  std::size_t n = 0;  // rows in use (a rung of the ladder may use fewer than all)
  double beta = 0;
  std::size_t pass = 0;         // sweeps over the kernel so far in this stage, the current one included
  double pass_fraction = 0;     // of the current sweep
  double pairs_per_second = 0;  // rate of the current sweep
  std::size_t converged = 0;    // pairs that have reached the tolerance
  std::size_t wanted = 0;
  double fraction = 0;       // of the whole fit, as forecast; 0 where no forecast is possible
  double seconds_left = -1;  // of the whole fit, as forecast; negative where unknown
};

// Watches a fit and may stop it. stop() is asked from the calling thread several times a second; once it returns true the
// fit throws Error(interrupted) promptly and leaves nothing behind.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress&) {}
  virtual void note(const std::string& /*line*/) {}  // a remark for a human: isolated points, a wall that was met
  virtual bool stop() { return false; }
};

struct Options {
  std::size_t modes = 16;      // nontrivial eigenpairs
  double alpha = 0.5;          // density normalisation, in [0, 1]
  std::optional<double> beta;  // bandwidth of exp(-beta |x-y|^2); nothing: the flow chooses
  Select select = Select::robust;
  bool ladder = true;
  std::vector<Precision> precision = {Precision::fp32};  // several: a cascade, the last one decides
  std::string backend = "auto";
  std::string isa;        // instruction set of the cpu back-end; empty: the best there is
  int threads = 0;        // 0: all cores the process may use
  std::size_t block = 0;  // 0: chosen from the cost of a pass
  std::size_t basis = 0;
  double tolerance = 1e-5;                // on the residual |Mv - lambda v| of each pair
  std::size_t max_passes = 0;             // 0: 50 + 4 * modes
  std::size_t memory_bytes = 0;           // budget of the fit; 0: what is free
  std::optional<double> beta0;            // first bandwidth of the flow
  std::optional<double> beta0_cap = 0.1;  // the paper's cap on it; nothing: uncapped
  std::optional<double> beta_max;
  std::size_t components = 1;  // the Perron gap is judged past this many components
  double trim = 0;             // fraction of the rows, the sparsest, left out of the fit and placed by extension
  bool trim_isolated = false;  // instead: the rows that are isolated where the rest is not, at most 2 in 100
  std::uint64_t seed = 42;
  bool keep_points = true;  // the model carries its points (transform needs them)
  Observer* observer = nullptr;
};

}  // namespace fd
