// Points with known geometry for the demo and the benchmarks: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd::cli {

// The paper's flat torus T^6, six circles of unequal radii, turned into all columns: every coordinate varies. In double.
Table torus(std::size_t rows, std::size_t dimension);

// The same torus as the paper embeds it: circle a in columns 2a and 2a + 1, the columns past twelve zero. In double.
// An interrupt ends it: there may be many rows.
constexpr std::size_t torus_circles = 6;
Table padded_torus(std::size_t rows, std::size_t columns, std::uint64_t seed);
double torus_angle(std::size_t row, std::size_t circle, std::uint64_t seed);  // in [0, 2 pi)

// (t cos t, h, t sin t), t in [3 pi/2, 9 pi/2], h in [0, 21], every axis brought to mean 0 and variance 1.
Table swiss_roll(std::size_t rows, bool wide);
std::vector<double> swiss_roll_angles(std::size_t rows);  // its t

}  // namespace fd::cli
