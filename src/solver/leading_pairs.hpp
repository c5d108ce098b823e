// The largest eigenvalues of a small symmetric matrix with their vectors, where more are not wanted: a reduction to tridiagonal form (by rotations
// where entries lie in a narrow band, as those of a Krylov chain do), all
// eigenvalues of that, and vectors one by one, by inverse iteration, as many as are asked for. A full decomposition costs five times as much,
// nearly all of it for vectors that nobody reads.
//
// Guarantees: vectors are orthonormal and pairs exact to fp64 rounding, clusters and copies included. What inverse iteration finds is verified;
// where that fails, or the first call wants more than three quarters of the vectors, the full decomposition (eigenpairs.hpp) takes its place.
// Does not know: what the matrix stands for.
#pragma once

#include <optional>

#include <Eigen/Eigenvalues>

#include "solver/band_reduction.hpp"

namespace fd {

class LeadingPairs {
 public:
  LeadingPairs() = default;
  explicit LeadingPairs(const Eigen::MatrixXd& a);

  static LeadingPairs of_diagonal(const Eigen::VectorXd& descending);  // they are their own

  bool found() const { return found_; }  // false for a matrix that is not finite: nothing else means anything then
  const Eigen::VectorXd& values() const { return values_; }  // all of them, descending
  // At least the first `count` vectors, columns as values. Those that were handed out before stay as they were (of a cluster other vectors would
  // do as well, but residuals were measured of these), unless inverse iteration fails on one that is new.
  const Eigen::MatrixXd& vectors(Eigen::Index count);

 private:
  bool iterate(Eigen::Index count);
  void decompose();

  Eigen::MatrixXd a_, tridiagonal_vectors_, vectors_;  // a_: divided by its largest entry, so that nothing underflows
  double scale_ = 1;
  std::optional<Eigen::Tridiagonalization<Eigen::MatrixXd>> reduced_;  // one of the two
  std::optional<BandReduction> band_reduced_;
  Eigen::VectorXd diagonal_, beside_;  // of the tridiagonal matrix
  Eigen::VectorXd values_;
  bool found_ = false;
};

}  // namespace fd
