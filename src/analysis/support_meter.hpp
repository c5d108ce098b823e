// Measures kernel support (flashdiffusion/support.hpp) of a few rows against many that pass by: points are shown a piece at a time, in any
// number of pieces, and are not kept. That lets a file larger than memory, or points that are made on the fly, be measured.
//
// Guarantees: what is known of a row depends on the points and their order alone, not on pieces or threads. Pairs with beta |x - y|^2 > 80 add
// nothing to a row mass of at least 1: not within n e^-80.
// Does not know: where points come from, and which of them the rows are: a row is its own neighbour if it passes by too.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/support.hpp>

#include "base/team.hpp"

namespace fd {

class SupportMeter {
 public:
  // queries: count × dimension, the measured points.
  SupportMeter(std::vector<double> queries, std::size_t dimension, double beta, std::vector<std::size_t> neighbours,
               std::vector<double> tolerances);

  // `points`: count × dimension. Work is shared by row; no team: by the calling thread alone.
  void add(const double* points, std::size_t count, Team* team = nullptr);

  KernelSupport result() const;  // n: points shown so far; `rows` is left empty

 private:
  struct Row {
    double mass = 0;
    std::vector<double> nearest;  // squared distances; once there are more than wanted the larger ones go
    double bound = 0;             // none beyond it is among the nearest; set by the constructor
    std::vector<std::size_t> counts;
  };
  void measure(std::size_t row, const double* points, std::size_t count);
  std::vector<double> retained(const Row& row) const;

  std::vector<double> queries_;
  std::size_t dimension_, n_ = 0;
  double beta_;
  std::vector<std::size_t> neighbours_;
  std::vector<double> tolerances_, reach_;  // squared distance at which the kernel falls below each tolerance
  std::size_t most_ = 0;                    // of the neighbours
  std::vector<Row> rows_;
};

// Mean, standard error and the middle nine tenths. At least one value.
RowSpread spread_of(std::vector<double> values);

// c of 1 - exp(-c k) by least squares on f(k); NaN where fewer than two of the shares lie below 1.
double fitted_decay(const std::vector<RetainedMass>& masses);

}  // namespace fd
