#include "bench/solver_peers.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <dlfcn.h>

#ifdef FD_ARPACK_LIBRARY
#include <arpack/arpack.h>
#endif
#ifdef FD_WITH_SPECTRA
#include <Spectra/SymEigsSolver.h>
#endif

namespace fd::cli {
namespace {

using Index = Eigen::Index;

struct PassesExhausted {};

// The operator as the peers see it, A + 9 I. They stop when a residual is below tolerance times its Ritz value; with theta in [0, 1]
// moved to [9, 10] and a tenth of the tolerance that is an absolute bound, ours, to within a tenth. Krylov spaces do not see a shift.
class Shifted {
 public:
  using Scalar = double;  // Spectra asks for the name
  static constexpr double shift = 9;

  explicit Shifted(const PeerProblem& problem) : problem_(problem) {}

  Index rows() const { return static_cast<Index>(problem_.size); }
  Index cols() const { return rows(); }
  double tolerance() const { return problem_.tolerance / (1 + shift); }
  std::size_t passes() const { return passes_; }

  void perform_op(const double* in, double* out) const {
    if (passes_ == problem_.most_passes) throw PassesExhausted();
    ++passes_;
    problem_.apply(in, out);
    for (std::size_t i = 0; i < problem_.size; ++i) out[i] += shift * in[i];
  }

 private:
  const PeerProblem& problem_;
  mutable std::size_t passes_ = 0;
};

// Unshifted, largest first.
[[maybe_unused]] void keep(PeerAnswer& answer, const Eigen::VectorXd& values, const Eigen::MatrixXd& vectors) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values(a) > values(b); });
  answer.values = values(order).array() - Shifted::shift;
  answer.vectors = vectors(Eigen::all, order).colwise().normalized();
}

#ifdef FD_ARPACK_LIBRARY
struct Arpack {
  decltype(&dsaupd_c) dsaupd = nullptr;
  decltype(&dseupd_c) dseupd = nullptr;

  explicit Arpack(int threads) {
    setenv("OPENBLAS_NUM_THREADS", std::to_string(threads).c_str(), 1);  // where that is the BLAS it calls
    void* library = dlopen(FD_ARPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    dsaupd = reinterpret_cast<decltype(dsaupd)>(dlsym(library, "dsaupd_c"));
    dseupd = reinterpret_cast<decltype(dseupd)>(dlsym(library, "dseupd_c"));
  }

  PeerAnswer operator()(const PeerProblem& problem) const;
};

PeerAnswer Arpack::operator()(const PeerProblem& problem) const {
  if (dsaupd == nullptr || dseupd == nullptr) return {"not installed"};
  PeerAnswer answer;
  const Shifted a(problem);
  const auto n = static_cast<a_int>(problem.size), modes = static_cast<a_int>(problem.modes),
             basis = static_cast<a_int>(problem.basis), room = basis * (basis + 8);
  Eigen::MatrixXd v(n, basis), vectors(n, modes);
  Eigen::VectorXd residual = problem.start, work(3 * n), values(modes), small(room);
  a_int parameters[11] = {1, 0, static_cast<a_int>(problem.most_passes), 1, 0, 0, 1}, pointers[14] = {};
  a_int request = 0, info = 1;  // 1: `residual` is the start
  try {
    for (;;) {
      dsaupd(&request, "I", n, "LA", modes, a.tolerance(), residual.data(), basis, v.data(), n, parameters, pointers, work.data(),
             small.data(), room, &info);
      if (request != 1 && request != -1) break;
      a.perform_op(work.data() + pointers[0] - 1, work.data() + pointers[1] - 1);
    }
    std::vector<a_int> select(problem.basis);  // work space, whatever the header says
    answer.converged = info == 0 && parameters[4] >= modes;
    if (answer.converged)
      dseupd(1, "A", select.data(), values.data(), vectors.data(), n, 0, "I", n, "LA", modes, a.tolerance(), residual.data(),
             basis, v.data(), n, parameters, pointers, work.data(), small.data(), room, &info);
    answer.converged = answer.converged && info == 0;
  } catch (const PassesExhausted&) {
  }
  answer.passes = a.passes();
  if (answer.converged) keep(answer, values, vectors);
  return answer;
}
#else
struct Arpack {
  explicit Arpack(int) {}
  PeerAnswer operator()(const PeerProblem&) const { return {"not built in"}; }
};
#endif

#ifdef FD_WITH_SPECTRA
PeerAnswer spectra(const PeerProblem& problem) {
  PeerAnswer answer;
  Shifted a(problem);
  Spectra::SymEigsSolver<Shifted> solver(a, static_cast<Index>(problem.modes), static_cast<Index>(problem.basis));
  try {
    solver.init(problem.start.data());
    solver.compute(Spectra::SortRule::LargestAlge, static_cast<Index>(problem.most_passes), a.tolerance());
    answer.converged = solver.info() == Spectra::CompInfo::Successful;
  } catch (const PassesExhausted&) {
  }
  answer.passes = a.passes();
  if (answer.converged) keep(answer, solver.eigenvalues(), solver.eigenvectors());
  return answer;
}
#else
PeerAnswer spectra(const PeerProblem&) { return {"not built in"}; }
#endif

}  // namespace

std::vector<Peer> solver_peers(int threads) { return {{"ARPACK", Arpack(threads)}, {"Spectra", spectra}}; }

}  // namespace fd::cli
