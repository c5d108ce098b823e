#include "analysis/subspace_overlap.hpp"

#include <algorithm>
#include <limits>

#include <Eigen/Core>

#include "base/eigenpairs.hpp"

namespace fd {
namespace {

constexpr std::size_t block = 4096;

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Rows [first, first + count) of a and b side by side.
void read_block(const Functions& a, const Functions& b, std::size_t first, std::size_t count, Matrix& values) {
  values.resize(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(a.columns + b.columns));
  for (std::size_t i = 0; i < count; ++i) {
    double* row = values.row(static_cast<Eigen::Index>(i)).data();
    a.read(first + i, row);
    b.read(first + i, row + a.columns);
  }
}

// G^-1/2 on the directions that G has.
Eigen::MatrixXd whitening(const Eigen::MatrixXd& gram) {
  const Eigenpairs axes = eigenpairs(gram);
  const double least = axes.values.maxCoeff() * std::numeric_limits<double>::epsilon() * static_cast<double>(gram.rows());
  Eigen::VectorXd roots = axes.values;
  for (double& value : roots) value = value > least ? 1 / std::sqrt(value) : 0;
  return axes.vectors * roots.asDiagonal() * axes.vectors.transpose();
}

}  // namespace

double subspace_overlap(std::size_t rows, const Functions& a, const Functions& b) {
  const auto wide = static_cast<Eigen::Index>(a.columns), all = static_cast<Eigen::Index>(a.columns + b.columns);
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(all);
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(all, all);
  Matrix values;
  for (std::size_t first = 0; first < rows; first += block) {
    read_block(a, b, first, std::min(block, rows - first), values);
    mean += values.colwise().sum() / static_cast<double>(rows);
  }
  for (std::size_t first = 0; first < rows; first += block) {
    read_block(a, b, first, std::min(block, rows - first), values);
    values.rowwise() -= mean;
    gram.noalias() += values.transpose() * values;
  }
  if (!gram.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  const Eigen::MatrixXd between = whitening(gram.topLeftCorner(wide, wide)) * gram.topRightCorner(wide, all - wide) *
                                  whitening(gram.bottomRightCorner(all - wide, all - wide));
  return between.squaredNorm() / static_cast<double>(std::min(a.columns, b.columns));
}

}  // namespace fd
