#include "base/eigenpairs.hpp"

#include <Eigen/Eigenvalues>

namespace fd {

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

Eigenpairs eigenpairs(const Eigen::MatrixXd& a) {
  Solver solver(a);
  if (solver.info() == Eigen::Success) return {solver.eigenvalues(), solver.eigenvectors(), true};
  if (!a.allFinite()) return {};
  const double size = a.cwiseAbs().rowwise().sum().maxCoeff();
  solver.compute(a + size * Eigen::MatrixXd::Identity(a.rows(), a.cols()));
  return {solver.eigenvalues().array() - size, solver.eigenvectors(), solver.info() == Eigen::Success};
}

Eigenpairs tridiagonal_eigenpairs(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside) {
  Solver solver;
  solver.computeFromTridiagonal(diagonal, beside);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& a) { return Solver(a, Eigen::EigenvaluesOnly).eigenvalues(); }

}  // namespace fd
