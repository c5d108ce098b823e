// Everything a fit can be asked for. The defaults are what a user who knows nothing should get. Values that cannot be honoured, alone or
// together, throw Error(misuse) before any work is done; messages name fields in backticks, as in `components = 3`.
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
  std::string stage;  // "reading", "trim", "probe", "solve", "extend"
  std::size_t n = 0;  // rows in use (a rung of the ladder may use fewer than all)
  double beta = 0;
  std::size_t pass = 0;         // sweeps over the kernel so far in this stage, the current one included
  double pass_fraction = 0;     // of the current sweep
  double pairs_per_second = 0;  // rate of the current sweep
  std::size_t converged = 0;    // pairs that have reached the tolerance
  std::size_t wanted = 0;
  double fraction = 0;       // of the whole fit, as forecast; never falls; 0 where no forecast is possible
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

class Checkpoint;
class Comm;

struct Options {
  std::size_t modes = 16;      // nontrivial eigenpairs, fewer than rows; of fewer than 17 rows the default takes all there are
  double alpha = 0.5;          // density normalisation, in [0, 1]
  std::optional<double> beta;  // bandwidth of exp(-beta |x-y|^2); nothing: the flow chooses
  Select select = Select::robust;
  bool ladder = true;
  std::vector<Precision> precision = {Precision::fp32};  // several: a cascade, the last one decides
  std::string backend = "auto";
  std::string isa;           // instruction set of the cpu back-end; empty: the best there is
  int threads = 0;           // 0: all cores the process may use
  std::vector<int> devices;  // of the cuda back-end: several share the rows, a rank each; empty: the first that answers
  // Threads of this process that share the rows as the ranks of a cluster do, each with its share of `threads`: for trying out what a cluster would do.
  int ranks = 1;
  std::size_t rows_a_rank = 2048;         // ranks that would have fewer of a sub-sample, or of all rows, have none
  double link_bytes_per_second = 1.25e9;  // between two ranks, for the forecast alone
  std::size_t block =
      0;  // vectors a pass, at most as many as rows, taken as 4 where it is less; 0: chosen from the cost of a pass
  std::size_t basis = 0;       // vectors kept; at least modes + 3 * block (up to 4,096 rows: 256), at most the rows; 0: chosen
  double tolerance = 1e-5;     // on the residual |Mv - lambda v| of each pair, below 1; what the precision cannot reach is said
  std::size_t max_passes = 0;  // of a solve or probe; 0: 50 + 4 * modes, or as many more as blocks are narrower than 8
  // Budget: a fit that needs more throws Error(memory) before it reads; what is left of it keeps parts of the kernel from pass to pass, which
  // is quicker and changes no bit of the result. Nothing: what is free, half of it for the kernel; 0: keep nothing.
  std::optional<std::size_t> memory_bytes;
  std::optional<double> beta0;            // first bandwidth of the flow, at most beta_max; nothing: from the scale of the data
  std::optional<double> beta0_cap = 0.1;  // the paper's and the continuation's cap on a first bandwidth that was not given
  std::optional<double> beta_max;         // largest bandwidth of the flow; a start from the data is lowered to it
  // The Perron gap is judged past this many components, at most as many as modes. Nothing: past groups of rows far from all others, as the
  // flow (Select::robust) finds them; one for the other rules.
  std::optional<std::size_t> components;
  // Fraction of the rows, the sparsest, left out of the fit and placed by extension. Nothing: the flow (Select::robust) sets aside rows that
  // the others do not resolve where that buys a finer bandwidth, at most 2 in 100; 0: all rows take part.
  std::optional<double> trim;
  bool drop_localised = false;  // the leading modes that do not live on fewer than 8 rows, instead of the leading ones
  std::uint64_t seed = 42;
  bool keep_points = true;  // the model carries its points (transform needs them)
  Observer* observer = nullptr;
  // Where the fit keeps what it has found so far (checkpoint.hpp); null: nowhere. Used where the forecast is at least `checkpoint_from` seconds,
  // and within a solve written every `checkpoint_every` seconds; below zero: every few minutes, as long as that costs little.
  Checkpoint* checkpoint = nullptr;
  double checkpoint_from = 0, checkpoint_every = -1;
  // Ranks of which this one, 0, decides and the others serve (fit.hpp): set by fit(points, options, comm).
  Comm* comm = nullptr;
};

}  // namespace fd
