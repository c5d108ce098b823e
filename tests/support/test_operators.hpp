// Operators with spectra that are known because they were built: diagonal ones, a dense symmetric one, and one with a
// low-precision twin.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "device/space.hpp"
#include "operator/operator.hpp"

namespace fd::test {

class DiagonalOperator final : public Operator {
 public:
  DiagonalOperator(Space& space, std::vector<double> values)
      : space_(space), values_(std::move(values)), panel_(space.panel(plain_layout(values_.size()), 1)) {
    space.backend().upload(values_.data(), *panel_);
  }
  const SharedLayout& layout() const override { return panel_->layout(); }
  void apply(Columns in, Columns out) override {
    space_.backend().scale_rows(*panel_, in, out);
    ++passes;
  }
  std::size_t passes = 0;

 private:
  Space& space_;
  std::vector<double> values_;
  std::unique_ptr<Panel> panel_;
};

class DenseOperator : public Operator {
 public:
  DenseOperator(Space& space, Eigen::MatrixXd matrix)
      : space_(space), matrix_(std::move(matrix)), layout_(plain_layout(static_cast<std::size_t>(matrix_.rows()))) {}
  const SharedLayout& layout() const override { return layout_; }
  void apply(Columns in, Columns out) override { multiply(matrix_, in, out); }
  std::size_t passes = 0;

 protected:
  void multiply(const Eigen::MatrixXd& matrix, Columns in, Columns out) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    RowMajor x(matrix.rows(), static_cast<Eigen::Index>(in.count));
    space_.backend().download(in, x.data());
    const RowMajor y = matrix * x;
    space_.backend().upload(y.data(), out);
    ++passes;
  }

 private:
  Space& space_;
  Eigen::MatrixXd matrix_;
  SharedLayout layout_;
};

// Off by a symmetric matrix of norm `error` where that is permitted, or, if `greedy`, wherever anything is.
class LowPrecisionOperator final : public DenseOperator {
 public:
  LowPrecisionOperator(Space& space, const Eigen::MatrixXd& matrix, Eigen::MatrixXd off, double error, bool greedy)
      : DenseOperator(space, matrix), low_precision_(matrix + std::move(off)), error_(error), greedy_(greedy) {}
  double apply_low_precision(Columns in, Columns out, double permitted) override {
    if (permitted <= 0 || (!greedy_ && error_ > permitted)) return Operator::apply_low_precision(in, out, permitted);
    multiply(low_precision_, in, out);
    ++low_precision_passes;
    return error_;
  }
  std::size_t low_precision_passes = 0;

 private:
  Eigen::MatrixXd low_precision_;
  double error_;
  bool greedy_;
};

}  // namespace fd::test
