// What a fit will take on this machine, before it is run.
#pragma once

#include <cstddef>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

struct Forecast {
  double seconds = 0;
  double memory_bytes = 0;
  std::size_t passes = 0;       // sweeps over a kernel, mass sweeps included
  std::size_t full_passes = 0;  // those at the full n
  std::size_t columns = 0;      // vectors times sweeps
  double pairs_per_second = 0;  // of a sweep with one vector, unordered pairs
  std::size_t ranks = 1;        // that share the rows; seconds are those of all together, memory_bytes that of rank 0
  double efficiency = 1;        // of a sweep over all rows: the time of one rank over that of all, times their number
};

// From a fraction of a second of measurement on a sample of the points. How many passes a spectrum takes is known only from
// experience: expect the time to within a factor of two.
// With `ranks`, of so many machines like this one, `link_bytes_per_second` apart.
Forecast estimate(PointSource& points, const Options& options = {});
// The same for points that do not exist yet: random ones of that shape.
Forecast estimate(std::size_t rows, std::size_t dimension, const Options& options = {});

}  // namespace fd
