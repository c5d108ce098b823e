// Operators with spectra that are known because they were built: diagonal ones, and a dense symmetric one.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "device/space.hpp"
#include "operator/operator.hpp"

namespace fd::test {

class DiagonalOperator final : public Operator {
 public:
  DiagonalOperator(Space& space, std::vector<double> values)
      : space_(space), values_(std::move(values)), panel_(space.panel(values_.size(), 1)) {
    space.backend().upload(nullptr, values_.data(), *panel_);
  }
  std::size_t size() const override { return values_.size(); }
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

class DenseOperator final : public Operator {
 public:
  DenseOperator(Space& space, Eigen::MatrixXd matrix) : space_(space), matrix_(std::move(matrix)) {}
  std::size_t size() const override { return static_cast<std::size_t>(matrix_.rows()); }
  void apply(Columns in, Columns out) override {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    RowMajor x(matrix_.rows(), static_cast<Eigen::Index>(in.count));
    space_.backend().download(nullptr, in, x.data());
    const RowMajor y = matrix_ * x;
    space_.backend().upload(nullptr, y.data(), out);
    ++passes;
  }
  std::size_t passes = 0;

 private:
  Space& space_;
  Eigen::MatrixXd matrix_;
};

}  // namespace fd::test
