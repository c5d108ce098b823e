// A linear decoder from modes to targets: y ~ mean(y) + (f - mean(f)) W, where W minimises |Y_c - F_c W|^2 + rho |W|^2 over the rows
// it is fitted to, c for centred. The penalty is relative, rho = ridge tr(G) / m with G = F_c^T F_c and m features, so that the scale of
// the modes does not matter. Angles are decoded as points of a circle, so that the end of a period is next to its beginning.
//
// Guarantees: fp64 throughout; features that do not vary decode to the mean. A NaN in what it is fitted to makes NaN of every
// prediction.
// Does not know: models and files; which rows are held out (whoever fits it decides).
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "analysis/ridge_moments.hpp"

namespace fd {

class RidgeDecoder {
 public:
  static constexpr double usual_ridge = 1e-8;

  // features: rows × m; targets: rows × any. Error(misuse) where rows do not agree, there are none, or `ridge` is not a finite number
  // of zero or more.
  RidgeDecoder(const Eigen::MatrixXd& features, const Eigen::MatrixXd& targets, double ridge = usual_ridge);

  Eigen::MatrixXd predict(const Eigen::MatrixXd& features) const;
  // Of each target, summed over the rows of the moments (of as many features): the squares of what it misses.
  Eigen::RowVectorXd missed(const RidgeMoments& moments) const { return moments.missed(feature_mean_, target_mean_, weights_); }

 private:
  friend class RidgePath;
  RidgeDecoder() = default;
  Eigen::RowVectorXd feature_mean_, target_mean_;
  Eigen::MatrixXd weights_;  // m × targets
};

// The decoders of the same rows for every penalty, from one eigen-decomposition G = U diag(g) U^T: W = U diag(1 / (g + rho)) U^T F_c^T Y_c.
class RidgePath {
 public:
  explicit RidgePath(const RidgeMoments& moments);

  RidgeDecoder decoder(double ridge) const;  // Error(misuse) where `ridge` is not a finite number of zero or more
  double condition() const;  // of G: the largest eigenvalue over the smallest; infinite where that is not above zero

 private:
  RidgeDecoder mean_;  // weights of zero
  Eigen::VectorXd values_;
  Eigen::MatrixXd vectors_, mixed_;  // U, U^T F_c^T Y_c
};

// Angles, a column each, as points of the unit circle: columns cos, sin of the first, cos, sin of the second, ...
Eigen::MatrixXd circle_points(const Eigen::MatrixXd& angles, double period);
// Their directions, in [-period / 2, period / 2]; the inverse of circle_points for points of any radius.
Eigen::MatrixXd circle_angles(const Eigen::MatrixXd& points, double period);
// The shorter way round, in [0, period / 2].
double circular_distance(double a, double b, double period);

// Mean absolute error of each column of angles, the shorter way round.
Eigen::RowVectorXd circular_error(const Eigen::MatrixXd& predicted, const Eigen::MatrixXd& angles, double period);

// What the decoder misses of targets it has not seen: over all rows, each judged by the decoder fitted to the other folds, the sum of
// |y - predicted|^2 over that of |y - mean of the other folds|^2. 0: all is decoded; 1: no better than the mean.
double held_out_error(const Eigen::MatrixXd& features, const Eigen::MatrixXd& targets, const std::vector<std::size_t>& fold,
                      double ridge = RidgeDecoder::usual_ridge);

}  // namespace fd
