// When a solve may stop: eigenvalues known well enough for a probe, random witnesses taken along long enough, copies not overlooked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include "base/archive.hpp"

namespace fd {

// The median of -log(theta) over the wanted Ritz values, pass by pass: what a probe needs.
class ValueHistory {
 public:
  explicit ValueHistory(double floor) : floor_(std::max(floor, 1e-300)) {}  // values below it are noise
  void push(const Eigen::VectorXd& values, std::size_t modes);
  void archive(Archive& archive) { archive(medians_); }

  // Once the median is known to `tolerance`, relative: the wanted eigenvalues as well as they are known; nothing before that.
  //
  // Known by the residuals: to second order an eigenvalue is r^2 / gap above its Ritz value, where the gap is to what the residual
  // consists of, `latest` (the largest Rayleigh quotient among the directions that joined last), or to the unwanted Ritz values, whichever
  // is wider. That much is added; it may be two thirds of the tolerance, and what is left is a fraction of it. Or known by the geometric
  // decay of the median's own steps, with a margin of two.
  // What is added stays below half of the way to `ceiling`, which a value has not passed before its Ritz value has.
  std::optional<std::vector<double>> known(const Eigen::VectorXd& values, const std::vector<double>& residuals, std::size_t modes,
                                           double latest, double tolerance, double ceiling) const;

 private:
  double action(double value) const;

  double floor_;
  std::vector<double> medians_;
};

// How many passes a random witness must ride along with a warm start before a missed eigenvalue at or above the last wanted one
// would have shown: Chebyshev growth of its component, 1/sqrt(n) at first, over the spectrum below. At most `most`: where it would take
// more, a missed pair is as good as degenerate with the bulk.
std::size_t witness_passes(const Eigen::VectorXd& values, std::size_t modes, double n, std::size_t most);

// Size of the largest set of neighbouring values (descending) no further than `close` from one another.
std::size_t largest_cluster(const Eigen::VectorXd& values, double close);

}  // namespace fd
