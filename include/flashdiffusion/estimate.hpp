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
};

// From a fraction of a second of measurement on a sample of the points. How many passes a spectrum takes is known only from
// experience: expect the time to within a factor of two.
Forecast estimate(PointSource& points, const Options& options = {});
// The same for points that do not exist yet: random ones of that shape.
Forecast estimate(std::size_t rows, std::size_t dimension, const Options& options = {});

}  // namespace fd
