// Rows that are neighbours although their panels reach so far that the sums of two numbers, which coordinates relative to a panel's centre are, have no digits
// left for the distance between them. Where all rows of a panel are near each other, or far, none are: a far row by itself has no neighbour, and a group
// of rows has panels of its own where it fills one.
#pragma once

#include <cstddef>
#include <optional>

#include "backends/cpu/packed_points.hpp"

namespace fd::cpu {

struct LostPair {
  std::size_t row, other;  // places: panel * panel_rows + row of the panel
};

// The first two rows found whose entry, of 2^-6 or more, may be off by more than `row_error` of itself for this reason. `offset` and, of fp64, `offset_low`:
// their coordinates from the panel's centre before they were packed (CpuPoints).
template <class T>
std::optional<LostPair> lost_digits(const PackedPoints<T>& points, const double* offset, const float* offset_low,
                                    double row_error);

}  // namespace fd::cpu
