// V between a few probes. Each of its three terms is close to a power of beta (heat action ~ 1/beta, sampling ~
// beta^(d/4 + 1/2), the barrier a high power of the gap), so it is the logarithms of the terms that are interpolated by
// parabolas in x = log beta, and their sum is minimised. For pure powers this is exact, where a parabola through V itself is
// biased by its third derivative: in 20 dimensions by 5 %, at a wall by far more.
//
// Outside its nodes a term goes on as a straight line. One node: the slopes are the ones theory expects.
#pragma once

#include <array>
#include <vector>

#include "flow/landscape.hpp"

namespace fd::flow {

class LocalModel {
 public:
  LocalModel(std::vector<const Mark*> nodes, const PotentialRules& rules);  // one to three

  struct Terms {
    double bias, stat, mach;
  };
  Terms terms(double x) const;
  double log_v(double x) const;
  double minimiser(double low, double high) const;   // of V on [low, high]
  double wall_after(double x, double limit) const;   // first place past x where the gap reaches kappa eta; limit where none
  bool barrier_rises(double from, double to) const;  // whether the barrier, not sampling, is what rises between the two

 private:
  double log_term(std::size_t term, double x) const;
  double polynomial(std::size_t term, double x) const;
  std::vector<double> x_;
  std::vector<std::array<double, 3>> logs_;
  std::array<double, 3> slopes_{};
};

}  // namespace fd::flow
