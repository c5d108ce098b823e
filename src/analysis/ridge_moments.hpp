// What a linear decoder must know of the rows it is fitted to: how many they are, the sums and the products of features f and targets y.
// Rows are added a block at a time and never kept. Moments of disjoint rows add up: cross-validation over any number of folds, penalties and
// leading features reads the rows once.
//
// Guarantees: fp64; sums are taken about an origin near the means, so that centring them later does not cancel. Features of the moments of m
// leading ones are the first m. Does not know: penalties, or what the targets mean.
#pragma once

#include <Eigen/Core>

namespace fd {

class RidgeMoments {
 public:
  RidgeMoments(Eigen::RowVectorXd feature_origin, Eigen::RowVectorXd target_origin);

  void add(const Eigen::MatrixXd& features, const Eigen::MatrixXd& targets);  // a row each
  RidgeMoments& operator+=(const RidgeMoments& other);                        // of other rows about the same origin
  RidgeMoments leading(Eigen::Index features) const;

  double rows() const { return rows_; }
  Eigen::Index features() const { return feature_sum_.size(); }
  Eigen::RowVectorXd feature_mean() const { return feature_origin_ + feature_sum_ / rows_; }
  Eigen::RowVectorXd target_mean() const { return target_origin_ + target_sum_ / rows_; }
  // About the means: F_c^T F_c, F_c^T Y_c, and the sum of squares of each target.
  Eigen::MatrixXd gram() const;
  Eigen::MatrixXd cross() const;
  Eigen::RowVectorXd spread() const;

  // Sum over these rows of (y - target_mean - (f - feature_mean) W)^2, a target each: what a decoder fitted to any rows misses of these.
  Eigen::RowVectorXd missed(const Eigen::RowVectorXd& feature_mean, const Eigen::RowVectorXd& target_mean,
                            const Eigen::MatrixXd& weights) const;

 private:
  Eigen::RowVectorXd feature_origin_, target_origin_;
  double rows_ = 0;
  Eigen::RowVectorXd feature_sum_, target_sum_, target_squares_;
  Eigen::MatrixXd products_;  // features × features
  Eigen::MatrixXd mixed_;     // features × targets
};

}  // namespace fd
