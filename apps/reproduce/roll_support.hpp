// Kernel support on a Swiss roll whose points are made as they are counted and never stored: pairs within reach of sampled rows, tile by tile,
// and how many of them lie on another turn of the roll (|t - t'| > pi), near in space and far along the surface.
//
// Guarantees: the same figures for any number of threads. Rows are a systematic sample in t, so that few of them stand for all.
#pragma once

#include <cstddef>
#include <vector>

#include "common/swiss_roll.hpp"

namespace fd::reproduce {

struct RollCount {
  double neighbours = 0, error = 0;  // mean over the sampled rows, and its standard error
  double other_turns = 0;            // of these, on another turn
};

struct RollSupport {
  std::vector<RollCount> counts;  // of each reach
  double dimension = 0;           // -2 d log S_off / d log beta over the octave above beta
};

// reaches: squared distances. All pairs with beta |x - y|^2 below 40 enter the dimension.
RollSupport roll_support(const cli::SwissRoll& roll, std::size_t rows, const std::vector<double>& reaches, double beta,
                         int threads);

}  // namespace fd::reproduce
