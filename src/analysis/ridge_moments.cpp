#include "analysis/ridge_moments.hpp"

#include <utility>

namespace fd {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;

RidgeMoments::RidgeMoments(RowVectorXd feature_origin, RowVectorXd target_origin)
    : feature_origin_(std::move(feature_origin)), target_origin_(std::move(target_origin)) {
  const Index m = feature_origin_.size(), targets = target_origin_.size();
  feature_sum_ = RowVectorXd::Zero(m);
  target_sum_ = target_squares_ = RowVectorXd::Zero(targets);
  products_ = MatrixXd::Zero(m, m);
  mixed_ = MatrixXd::Zero(m, targets);
}

void RidgeMoments::add(const MatrixXd& features, const MatrixXd& targets) {
  const MatrixXd f = features.rowwise() - feature_origin_, y = targets.rowwise() - target_origin_;
  rows_ += static_cast<double>(f.rows());
  feature_sum_ += f.colwise().sum();
  target_sum_ += y.colwise().sum();
  target_squares_ += y.colwise().squaredNorm();
  products_.noalias() += f.transpose() * f;
  mixed_.noalias() += f.transpose() * y;
}

RidgeMoments& RidgeMoments::operator+=(const RidgeMoments& other) {
  rows_ += other.rows_;
  feature_sum_ += other.feature_sum_;
  target_sum_ += other.target_sum_;
  target_squares_ += other.target_squares_;
  products_ += other.products_;
  mixed_ += other.mixed_;
  return *this;
}

RidgeMoments RidgeMoments::leading(Index features) const {
  RidgeMoments some(feature_origin_.head(features), target_origin_);
  some.rows_ = rows_;
  some.feature_sum_ = feature_sum_.head(features);
  some.target_sum_ = target_sum_;
  some.target_squares_ = target_squares_;
  some.products_ = products_.topLeftCorner(features, features);
  some.mixed_ = mixed_.topRows(features);
  return some;
}

MatrixXd RidgeMoments::gram() const { return products_ - feature_sum_.transpose() * feature_sum_ / rows_; }

MatrixXd RidgeMoments::cross() const { return mixed_ - feature_sum_.transpose() * target_sum_ / rows_; }

RowVectorXd RidgeMoments::spread() const { return target_squares_ - target_sum_.cwiseAbs2() / rows_; }

RowVectorXd RidgeMoments::missed(const RowVectorXd& feature_mean, const RowVectorXd& target_mean, const MatrixXd& weights) const {
  // With the own means f', y' of these rows: y - t - (f - u) W = (y - y') - (f - f') W + b, b = y' - t - (f' - u) W, and what is centred
  // is orthogonal to b.
  const RowVectorXd offset = this->target_mean() - target_mean - (this->feature_mean() - feature_mean) * weights;
  const RowVectorXd mixed = cross().cwiseProduct(weights).colwise().sum();
  const RowVectorXd decoded = weights.cwiseProduct(gram() * weights).colwise().sum();
  return spread() - 2 * mixed + decoded + rows_ * offset.cwiseAbs2();
}

}  // namespace fd
