#include "analysis/ridge_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <flashdiffusion/error.hpp>

#include "base/eigenpairs.hpp"

namespace fd {
namespace {

using Index = Eigen::Index;

void check_period(double period) {
  if (!(period > 0 && std::isfinite(period)))
    throw Error(Failure::misuse, "a period of " + std::to_string(period), "360 for degrees, 2 pi for radians");
}

[[noreturn]] void shapes_differ(const std::string& what, const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const auto shape = [](const Eigen::MatrixXd& m) { return std::to_string(m.rows()) + " x " + std::to_string(m.cols()); };
  throw Error(Failure::misuse, what + ": " + shape(a) + " and " + shape(b), "give both for the same rows");
}

}  // namespace

RidgePath::RidgePath(const RidgeMoments& moments) {
  const Eigen::MatrixXd gram = moments.gram(), cross = moments.cross();
  mean_.feature_mean_ = moments.feature_mean();
  mean_.target_mean_ = moments.target_mean();
  mean_.weights_ = Eigen::MatrixXd::Zero(gram.rows(), cross.cols());
  if (!gram.allFinite() || !cross.allFinite()) {  // a NaN anywhere is one everywhere
    values_ = Eigen::VectorXd::Constant(gram.rows(), std::numeric_limits<double>::quiet_NaN());
    vectors_ = Eigen::MatrixXd::Identity(gram.rows(), gram.rows());
    mixed_ = Eigen::MatrixXd::Constant(gram.rows(), cross.cols(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const Eigenpairs axes = eigenpairs(gram);
  values_ = axes.values;
  vectors_ = axes.vectors;
  mixed_ = vectors_.transpose() * cross;
}

RidgeDecoder RidgePath::decoder(double ridge) const {
  if (!(ridge >= 0 && std::isfinite(ridge)))
    throw Error(Failure::misuse, "a ridge of " + std::to_string(ridge), "a finite number of zero or more; 1e-8 is usual");
  const double largest = values_.maxCoeff(), rho = ridge * values_.sum() / static_cast<double>(values_.size());
  // Directions in which the features do not vary but by rounding have no weight.
  const double negligible = static_cast<double>(values_.size()) * std::numeric_limits<double>::epsilon() * largest;
  Eigen::VectorXd inverse(values_.size());
  for (Index j = 0; j < values_.size(); ++j) {
    const double value = values_(j) + rho;
    inverse(j) = std::isnan(value) || value > negligible ? 1 / value : 0;
  }
  RidgeDecoder result = mean_;
  result.weights_ = vectors_ * (inverse.asDiagonal() * mixed_);
  return result;
}

double RidgePath::condition() const {
  const double smallest = values_.minCoeff();  // NaN is passed on
  if (smallest <= 0) return std::numeric_limits<double>::infinity();
  return values_.maxCoeff() / smallest;
}

RidgeDecoder::RidgeDecoder(const Eigen::MatrixXd& features, const Eigen::MatrixXd& targets, double ridge) {
  if (features.rows() != targets.rows() || features.rows() == 0 || features.cols() == 0)
    shapes_differ("features and targets", features, targets);
  RidgeMoments moments(features.colwise().mean(), targets.colwise().mean());
  moments.add(features, targets);
  *this = RidgePath(moments).decoder(ridge);
}

Eigen::MatrixXd RidgeDecoder::predict(const Eigen::MatrixXd& features) const {
  if (features.cols() != weights_.rows()) shapes_differ("features, and weights fitted to others", features, weights_);
  return ((features.rowwise() - feature_mean_) * weights_).rowwise() + target_mean_;
}

Eigen::MatrixXd circle_points(const Eigen::MatrixXd& angles, double period) {
  check_period(period);
  const double radians = 2 * std::numbers::pi / period;
  Eigen::MatrixXd points(angles.rows(), 2 * angles.cols());
  for (Index c = 0; c < angles.cols(); ++c) {
    points.col(2 * c) = (radians * angles.col(c)).array().cos();
    points.col(2 * c + 1) = (radians * angles.col(c)).array().sin();
  }
  return points;
}

Eigen::MatrixXd circle_angles(const Eigen::MatrixXd& points, double period) {
  check_period(period);
  if (points.cols() % 2 != 0)
    throw Error(Failure::misuse, std::to_string(points.cols()) + " columns of points of circles", "a cosine and a sine each");
  Eigen::MatrixXd angles(points.rows(), points.cols() / 2);
  for (Index c = 0; c < angles.cols(); ++c)
    for (Index i = 0; i < angles.rows(); ++i)
      angles(i, c) = std::atan2(points(i, 2 * c + 1), points(i, 2 * c)) * period / (2 * std::numbers::pi);
  return angles;
}

double circular_distance(double a, double b, double period) {
  check_period(period);
  return std::abs(std::remainder(a - b, period));
}

Eigen::RowVectorXd circular_error(const Eigen::MatrixXd& predicted, const Eigen::MatrixXd& angles, double period) {
  if (predicted.rows() != angles.rows() || predicted.cols() != angles.cols() || angles.rows() == 0)
    shapes_differ("predicted and true angles", predicted, angles);
  Eigen::RowVectorXd error = Eigen::RowVectorXd::Zero(angles.cols());
  for (Index c = 0; c < angles.cols(); ++c)
    for (Index i = 0; i < angles.rows(); ++i) error(c) += circular_distance(predicted(i, c), angles(i, c), period);
  return error / static_cast<double>(angles.rows());
}

double held_out_error(const Eigen::MatrixXd& features, const Eigen::MatrixXd& targets, const std::vector<std::size_t>& fold,
                      double ridge) {
  if (features.rows() != targets.rows() || fold.size() != static_cast<std::size_t>(features.rows()) || fold.empty())
    shapes_differ("features and targets, with " + std::to_string(fold.size()) + " folds", features, targets);
  double missed = 0, spread = 0;
  for (std::size_t held = 0; held <= *std::max_element(fold.begin(), fold.end()); ++held) {
    std::vector<Index> in, out;
    for (std::size_t i = 0; i < fold.size(); ++i) (fold[i] == held ? out : in).push_back(static_cast<Index>(i));
    if (out.empty()) continue;
    const Eigen::MatrixXd known = targets(in, Eigen::all), hidden = targets(out, Eigen::all);
    const RidgeDecoder decoder(features(in, Eigen::all), known, ridge);
    const Eigen::RowVectorXd mean = known.colwise().mean();
    missed += (hidden - decoder.predict(features(out, Eigen::all))).squaredNorm();
    spread += (hidden.rowwise() - mean).squaredNorm();
  }
  return missed / spread;
}

}  // namespace fd
