// Other people's eigensolvers, for comparison: ARPACK (implicitly restarted Lanczos) and Spectra (the same method, another author).
// Both see an operator in fp64 and multiply one vector at a time. Each is there only where CMake found its headers; ARPACK's
// library is opened by solver_peers(), so that the program itself does not depend on it, nor on the BLAS behind it.
//
// Does not know: kernels, panels, precisions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace fd::cli {

struct PeerProblem {
  std::size_t size = 0;
  std::size_t modes = 0;  // largest eigenvalues wanted; all of the spectrum is in [0, 1]
  std::size_t basis = 0;  // vectors before a restart
  std::size_t most_passes = 0;
  double tolerance = 0;   // on each residual |A v - theta v|, absolute
  Eigen::VectorXd start;  // the same random vector for all
  std::function<void(const double* in, double* out)> apply;
};

struct PeerAnswer {
  std::string missing;  // why there is no answer: "not built in", ...
  bool converged = false;
  std::size_t passes = 0;
  Eigen::VectorXd values{};   // descending; empty when the passes ran out
  Eigen::MatrixXd vectors{};  // unit columns
};

struct Peer {
  const char* name;
  std::function<PeerAnswer(const PeerProblem& problem)> solve;
};
// `threads`: of their own linear algebra, where they can use them.
std::vector<Peer> solver_peers(int threads);

}  // namespace fd::cli
