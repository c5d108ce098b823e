// Eigenpairs of a small symmetric matrix.
//
// Eigen's iteration drops an off-diagonal entry by comparing it with the diagonal next to it. Where most eigenvalues are zero but for
// noise, as with copies of a few rows, there may be nothing to compare with, and it gives up. Moved by its own size the matrix has a scale;
// eigenvalues are then right to roundings of the largest, as those of any symmetric matrix are.
//
// Does not know: what the matrix stands for.
#pragma once

#include <Eigen/Eigenvalues>

namespace fd {

struct Eigenpairs {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // columns as values
  bool found = false;       // false for a matrix that is not finite: the others mean nothing then
};

inline Eigenpairs eigenpairs(const Eigen::MatrixXd& a) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  if (solver.info() == Eigen::Success) return {solver.eigenvalues(), solver.eigenvectors(), true};
  if (!a.allFinite()) return {};
  const double size = a.cwiseAbs().rowwise().sum().maxCoeff();
  solver.compute(a + size * Eigen::MatrixXd::Identity(a.rows(), a.cols()));
  return {solver.eigenvalues().array() - size, solver.eigenvectors(), solver.info() == Eigen::Success};
}

}  // namespace fd
