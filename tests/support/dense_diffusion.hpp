// The oracle of the end: a dense diffusion map in fp64 by the textbook formulas and Eigen's eigensolver. Shares no code with the
// project's operator or solver.
#pragma once

#include <cmath>
#include <utility>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "support/datasets.hpp"

namespace fd::test {

struct DenseDiffusion {
  Eigen::MatrixXd kernel;        // K
  Eigen::MatrixXd p;             // row-stochastic
  Eigen::VectorXd q, d, values;  // values: nontrivial eigenvalues, descending
  Eigen::MatrixXd symmetric;     // M
  Eigen::MatrixXd vectors;       // of M, columns as values (the trivial one left out)
};

inline Eigen::MatrixXd dense_kernel(const Dataset& data, double beta) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto n = static_cast<Eigen::Index>(data.rows);
  const Eigen::Map<const RowMajor> x(data.x.data(), n, static_cast<Eigen::Index>(data.dimension));
  Eigen::MatrixXd kernel(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    kernel(i, i) = 1;
    for (Eigen::Index j = 0; j < i; ++j) kernel(i, j) = kernel(j, i) = std::exp(-beta * (x.row(i) - x.row(j)).squaredNorm());
  }
  return kernel;
}

// From a kernel and a mass, which need not be the sum of its rows (where rows set aside count in the mass alone).
inline DenseDiffusion dense_diffusion(Eigen::MatrixXd kernel, Eigen::VectorXd mass, double alpha, bool with_vectors) {
  DenseDiffusion dense;
  dense.kernel = std::move(kernel);
  dense.q = std::move(mass);
  const Eigen::VectorXd weight = dense.q.array().pow(-alpha);
  const Eigen::MatrixXd normalised = weight.asDiagonal() * dense.kernel * weight.asDiagonal();
  dense.d = normalised.rowwise().sum();
  dense.p = dense.d.cwiseInverse().asDiagonal() * normalised;
  const Eigen::VectorXd root = dense.d.array().rsqrt();
  dense.symmetric = root.asDiagonal() * normalised * root.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense.symmetric,
                                                              with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  const Eigen::Index n = dense.q.size();
  dense.values = solver.eigenvalues().head(n - 1).reverse();
  if (with_vectors) dense.vectors = solver.eigenvectors().leftCols(n - 1).rowwise().reverse();
  return dense;
}

inline DenseDiffusion dense_diffusion(const Dataset& data, double beta, double alpha, bool with_vectors = true) {
  const Eigen::MatrixXd kernel = dense_kernel(data, beta);
  return dense_diffusion(kernel, kernel.rowwise().sum(), alpha, with_vectors);
}

}  // namespace fd::test
