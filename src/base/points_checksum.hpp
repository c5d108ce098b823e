// A checksum of points as values: 64 bits over the fp64 bit patterns of the coordinates, row after row. The same table read from
// text, NumPy or HDF5 has the same one; a changed value or another order of rows has another, but for one chance in 2^64. It does
// not depend on how the rows are cut into pieces. It finds mistakes, not forgeries.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <flashdiffusion/points.hpp>

#include "base/pieces.hpp"

namespace fd {

class PointsChecksum {
 public:
  void add(const double* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      state_ = (state_ ^ std::bit_cast<std::uint64_t>(values[i] + 0.0)) * 0x9fb21c651e98df25u;  // + 0.0: -0 is 0
      state_ ^= state_ >> 32;
    }
  }
  // Never 0, which stands for "not known".
  std::uint64_t value() const { return state_ != 0 ? state_ : 1; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

// The same with a state for every fourth value, which do not wait for one another; to compare two readings of a run by.
class QuickSum {
 public:
  void add(const double* values, std::size_t count) {
    const auto step = [](std::uint64_t state, double value) {
      state = (state ^ std::bit_cast<std::uint64_t>(value + 0.0)) * 0x9fb21c651e98df25u;
      return state ^ state >> 32;
    };
    std::size_t i = 0;
    for (; i < count && at_ != 0; ++i, at_ = (at_ + 1) % 4) state_[at_] = step(state_[at_], values[i]);
    for (; i + 4 <= count; i += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) state_[lane] = step(state_[lane], values[i + lane]);
    for (; i < count; ++i, ++at_) state_[at_] = step(state_[at_], values[i]);
  }
  bool operator==(const QuickSum&) const = default;

 private:
  std::array<std::uint64_t, 4> state_ = {1, 2, 3, 4};
  std::size_t at_ = 0;  // of the next value
};

inline std::uint64_t points_checksum(PointSource& source) {
  PointsChecksum sum;
  in_pieces(source, [&](std::size_t, std::size_t count, const double* rows) { sum.add(rows, count * source.dimension()); });
  return sum.value();
}

}  // namespace fd
