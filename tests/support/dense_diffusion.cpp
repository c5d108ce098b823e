#include "support/dense_diffusion.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace fd::test {

Eigen::MatrixXd dense_kernel(const Dataset& data, double beta) {
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

DenseDiffusion dense_operator(Eigen::MatrixXd kernel, Eigen::VectorXd mass, double alpha) {
  DenseDiffusion dense;
  dense.kernel = std::move(kernel);
  dense.q = std::move(mass);
  const Eigen::VectorXd weight = dense.q.array().pow(-alpha);
  const Eigen::MatrixXd normalised = weight.asDiagonal() * dense.kernel * weight.asDiagonal();
  dense.d = normalised.rowwise().sum();
  dense.p = dense.d.cwiseInverse().asDiagonal() * normalised;
  const Eigen::VectorXd root = dense.d.array().rsqrt();
  dense.symmetric = root.asDiagonal() * normalised * root.asDiagonal();
  return dense;
}

DenseDiffusion dense_diffusion(Eigen::MatrixXd kernel, Eigen::VectorXd mass, double alpha, bool with_vectors) {
  DenseDiffusion dense = dense_operator(std::move(kernel), std::move(mass), alpha);
  const Eigen::Index n = dense.q.size();
  // of M + 1: where most of M's eigenvalues are zero but for noise, as with a few distinct rows, Eigen's iteration on M itself has no scale to
  // compare with and does not end
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(dense.symmetric + Eigen::MatrixXd::Identity(n, n),
                                                              with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) throw std::runtime_error("the dense eigenvalues did not converge");
  dense.values = solver.eigenvalues().head(n - 1).reverse().array() - 1;
  if (with_vectors) dense.vectors = solver.eigenvectors().leftCols(n - 1).rowwise().reverse();
  return dense;
}

DenseDiffusion dense_diffusion(const Dataset& data, double beta, double alpha, bool with_vectors) {
  const Eigen::MatrixXd kernel = dense_kernel(data, beta);
  return dense_diffusion(kernel, kernel.rowwise().sum(), alpha, with_vectors);
}

Eigen::VectorXd krylov_values(const DenseDiffusion& dense, Eigen::Index block, Eigen::Index depth) {
  const auto orthonormal = [](const Eigen::MatrixXd& a) {
    return Eigen::MatrixXd(Eigen::HouseholderQR<Eigen::MatrixXd>(a).householderQ() *
                           Eigen::MatrixXd::Identity(a.rows(), a.cols()));
  };
  const Eigen::Index n = dense.q.size(), space = block * depth;
  Eigen::MatrixXd basis(n, 1 + space), fresh(n, block);
  basis.col(0) = dense.d.cwiseSqrt().normalized();
  const Random random(2, 71);
  for (Eigen::Index i = 0; i < fresh.size(); ++i) fresh.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  for (Eigen::Index known = 1; known < basis.cols(); known += block) {
    fresh -= basis.leftCols(known) * (basis.leftCols(known).transpose() * fresh);
    basis.middleCols(known, block) = orthonormal(fresh);
    fresh = dense.symmetric * basis.middleCols(known, block);
  }
  const Eigen::MatrixXd nontrivial = orthonormal(basis).rightCols(space);
  const Eigen::MatrixXd projected = nontrivial.transpose() * (dense.symmetric * nontrivial);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(projected + Eigen::MatrixXd::Identity(space, space),
                                                              Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) throw std::runtime_error("the dense Ritz values did not converge");
  return solver.eigenvalues().tail(block).reverse().array() - 1;
}

}  // namespace fd::test
