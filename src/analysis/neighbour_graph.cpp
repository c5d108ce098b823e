#include "analysis/neighbour_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Cholesky>

#include "base/eigenpairs.hpp"
#include "base/random.hpp"

namespace fd {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

NeighbourGraph::NeighbourGraph(PointsView points, double beta, std::size_t most_neighbours)
    : most_(std::min(most_neighbours, points.rows() - 1)), nearest_(points.rows() * most_) {
  const auto n = static_cast<Index>(points.rows()), dimension = static_cast<Index>(points.dimension());
  MatrixXd x(dimension, n);
  points.read(0, points.rows(), x.data());
  MatrixXd squares(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) squares(i, j) = squares(j, i) = (x.col(i) - x.col(j)).squaredNorm();
  std::vector<std::size_t> order(points.rows());
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const auto distances = squares.col(static_cast<Index>(i));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::swap(order[0], order[i]);  // itself stands first and is left out
    const auto nearer = [&](std::size_t a, std::size_t b) {
      const double here = distances(static_cast<Index>(a)), there = distances(static_cast<Index>(b));
      return here < there || (here == there && a < b);
    };
    std::partial_sort(order.begin() + 1, order.begin() + 1 + static_cast<std::ptrdiff_t>(most_), order.end(), nearer);
    std::copy_n(order.begin() + 1, most_, nearest_.begin() + static_cast<std::ptrdiff_t>(i * most_));
  }
  kernel_ = (-beta * squares.array()).exp().matrix();
}

MatrixXd NeighbourGraph::mask(std::size_t neighbours) const {
  MatrixXd mask = MatrixXd::Identity(kernel_.rows(), kernel_.cols());
  for (std::size_t i = 0; i < static_cast<std::size_t>(kernel_.rows()); ++i)
    for (std::size_t j = 0; j < std::min(neighbours, most_); ++j) {
      const auto a = static_cast<Index>(i), b = static_cast<Index>(nearest_[i * most_ + j]);
      mask(a, b) = mask(b, a) = 1;
    }
  return mask;
}

MatrixXd NeighbourGraph::kernel(std::size_t neighbours) const { return kernel_.cwiseProduct(mask(neighbours)); }

VectorXd symmetric_spectrum(const MatrixXd& matrix) { return eigenvalues(matrix); }

double least_eigenvalue(const MatrixXd& matrix) {
  const Index n = matrix.rows();
  const Random random(1, 0);
  MatrixXd basis(n, n);
  VectorXd next(n), diagonal(n), beside(n);  // of the tridiagonal matrix
  for (Index i = 0; i < n; ++i) next(i) = random.normal(static_cast<std::uint64_t>(i));
  double length = next.norm();
  for (Index step = 0;; ++step) {
    basis.col(step) = next / length;
    next.noalias() = matrix.selfadjointView<Eigen::Lower>() * basis.col(step);
    diagonal(step) = basis.col(step).dot(next);
    const auto known = basis.leftCols(step + 1);
    for (int twice = 0; twice < 2; ++twice) next -= known * (known.transpose() * next).eval();
    length = next.norm();
    beside(step) = length;
    const bool last = step + 1 == n;
    if (step % 10 != 9 && !last) continue;
    const Eigenpairs small = tridiagonal_eigenpairs(diagonal.head(step + 1), beside.head(step));
    // |A y - theta y| of the Ritz vector y; no eigenvalue is further from theta
    const double residual = length * std::abs(small.vectors(step, 0)), size = small.values.cwiseAbs().maxCoeff();
    if (last || residual <= 1e-9 * size || length <= 1e-13 * size) return small.values(0);
  }
}

bool no_eigenvalue_below(MatrixXd matrix, double bound) {
  matrix.diagonal().array() -= bound;
  return matrix.allFinite() && Eigen::LLT<Eigen::Ref<MatrixXd>>(matrix).info() == Eigen::Success;
}

double negative_mass(const VectorXd& spectrum) { return -spectrum.cwiseMin(0.0).sum() / spectrum.cwiseAbs().sum(); }

MatrixXd dense_modes(const MatrixXd& kernel, double alpha, std::size_t modes) {
  const VectorXd q = kernel.rowwise().sum(), weight = q.array().pow(-alpha).matrix();
  const VectorXd d = weight.cwiseProduct(kernel * weight), root = d.cwiseSqrt();
  const VectorXd s = weight.cwiseQuotient(root);
  const MatrixXd symmetric = s.asDiagonal() * kernel * s.asDiagonal();
  // ascending: the last is the trivial one
  const MatrixXd leading =
      eigenpairs(symmetric).vectors.rightCols(static_cast<Index>(modes) + 1).leftCols(static_cast<Index>(modes));
  return root.cwiseInverse().asDiagonal() * leading.rowwise().reverse();
}

}  // namespace fd
