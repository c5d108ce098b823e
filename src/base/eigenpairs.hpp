// Eigenpairs of a small symmetric matrix, compiled once for all who want some: each place that instantiates Eigen's solver takes the compiler
// as long as a dozen other files.
//
// Eigen's iteration drops an off-diagonal entry by comparing it with the diagonal next to it. Where most eigenvalues are zero but for
// noise, as with copies of a few rows, there may be nothing to compare with, and it gives up. Moved by its own size the matrix has a scale;
// eigenvalues are then right to roundings of the largest, as those of any symmetric matrix are.
//
// Does not know: what the matrix stands for.
#pragma once

#include <Eigen/Core>

namespace fd {

struct Eigenpairs {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // columns as values
  bool found = false;       // false for a matrix that is not finite: the others mean nothing then
};

Eigenpairs eigenpairs(const Eigen::MatrixXd& a);

// Of a tridiagonal matrix: its diagonal and what stands beside that.
Eigenpairs tridiagonal_eigenpairs(const Eigen::VectorXd& diagonal, const Eigen::VectorXd& beside);

// Ascending, without the vectors.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& a);

}  // namespace fd
