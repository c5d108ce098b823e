// The kernel of a graph of nearest neighbours as a dense matrix, for samples small enough to hold one: K_ij = exp(-beta |x_i - x_j|^2) where j
// is among the k nearest of i or i among those of j (union), each besides itself; the diagonal is 1; zero elsewhere. What the mask does to a
// kernel shows in its whole spectrum, which is computed by a dense eigen-decomposition.
//
// Guarantees: fp64; equal distances by row number. Does not know: large samples (n^2 doubles, n^3 operations).
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include <flashdiffusion/points.hpp>

namespace fd {

class NeighbourGraph {
 public:
  NeighbourGraph(PointsView points, double beta, std::size_t most_neighbours);

  Eigen::MatrixXd mask(std::size_t neighbours) const;    // 0 and 1; neighbours at most those of the constructor
  Eigen::MatrixXd kernel(std::size_t neighbours) const;  // masked
  const Eigen::MatrixXd& kernel() const { return kernel_; }

 private:
  Eigen::MatrixXd kernel_;
  std::size_t most_;
  std::vector<std::size_t> nearest_;  // most_ of each row, nearest first, without itself
};

// Of a symmetric matrix, ascending.
Eigen::VectorXd symmetric_spectrum(const Eigen::MatrixXd& matrix);
// Its smallest one alone, by Lanczos with full reorthogonalisation: n^2 operations a step instead of n^3. To 1e-9 of the largest |lambda|.
double least_eigenvalue(const Eigen::MatrixXd& matrix);
// Whether matrix - bound has a Cholesky factor: to the rounding of one, every eigenvalue is above the bound. NaN: no.
bool no_eigenvalue_below(Eigen::MatrixXd matrix, double bound);
// Sum of |lambda| over the negative ones, over that of all.
double negative_mass(const Eigen::VectorXd& spectrum);

// Diffusion modes of a kernel that is held: with q = K 1, d and s of the density exponent alpha, eigenvectors of diag(s) K diag(s) past the
// leading one over sqrt(d), a column each, in the order of their eigenvalues from the largest.
Eigen::MatrixXd dense_modes(const Eigen::MatrixXd& kernel, double alpha, std::size_t modes);

}  // namespace fd
