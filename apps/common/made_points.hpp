// Points with known geometry for the demo and the benchmarks: the same on every machine.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd::cli {

// The paper's flat torus T^6, six circles of unequal radii, turned into all columns: every coordinate varies. In double.
Table torus(std::size_t rows, std::size_t dimension);

// (t cos t, h, t sin t), t in [3 pi/2, 9 pi/2], h in [0, 21], every axis brought to mean 0 and variance 1.
Table swiss_roll(std::size_t rows, bool wide);
std::vector<double> swiss_roll_angles(std::size_t rows);  // its t

}  // namespace fd::cli
