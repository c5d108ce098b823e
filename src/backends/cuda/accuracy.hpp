// Which arithmetic keeps a promise for points within given bounds (the reasons are in cpu/accuracy.hpp; what is different here is said below).
//
// The fused kernel expands |x - y|^2 and is right to about 2e-6 in fp32 while |x|^2 <= 62 for points scaled by sqrt(2 beta log2 e). Points are sums of two
// 16-bit floats, the high part a multiple of 2^-9; its products are exact. What is left:
// - Low parts are off by 2^-22 a coordinate. Norms are those of the points as they are packed, so a distance is off by |x - y| times that, not |x|. All
//   coordinates are moved by a step that differs from column to column (`shift`): tables of few values are not rounded alike in every column.
// - Without the product of the low parts an exponent is off by sum l_i l_j, of size sqrt(D) 2^-18 / 12 where low parts are unrelated and by D 2^-18 / 12 for
//   rows that are equal. So it is made where rows are equal or may be, and for many columns.
//
// The direct kernel subtracts coordinates first: its error is a few units of the last place of t, whatever the bounds. Coordinates are not moved or scaled
// but by a power of two, so nothing is lost before the subtraction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <flashdiffusion/precision.hpp>

#include "base/random.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cuda {

// The sum of high parts, which begins at 14 - (|x|^2 + |y|^2)/2, is exact while it stays above -64. Between rows of one table it falls below for pairs alone
// whose entries are nothing beside the row's own; between two tables such pairs may be all there are.
constexpr double largest_fused_square = 62, largest_fused_square_of_two = 38;
// 4.0e-6 was measured at 24 columns of sparse zeros and ones, 8.2e-6 at 40: rows that are equal in most columns share their low parts there.
constexpr std::size_t columns_without_low_low = 24;
constexpr double largest_shift = 0x1p-9;

inline double shift(std::size_t column) { return largest_shift * (2 * Random(0x5EED, 1).uniform(column) - 1); }

struct Bounds {
  double square = 0;  // of |x|, largest
  std::size_t dimension = 0;
  bool copies = false;      // some rows are the same
  std::uint64_t table = 0;  // that the rows are part of (Whole); 0: they are all there are
};

// Rows of one table, here and on another rank perhaps; those of different tables may be equal.
inline bool one_table(const Bounds& x, const Bounds& z) { return &x == &z || (x.table != 0 && x.table == z.table); }

enum class Form { fused, direct };

inline Form form_for(Precision precision, double beta, const Bounds& x, const Bounds& z) {
  if (traits(precision).wide_panels) return Form::direct;
  const double norm = Gaussian::point_scale(beta) * std::sqrt(std::max(x.square, z.square)) +
                      largest_shift * std::sqrt(static_cast<double>(x.dimension));
  return norm * norm <= (one_table(x, z) ? largest_fused_square : largest_fused_square_of_two) ? Form::fused : Form::direct;
}

inline bool low_parts_count(const Bounds& x, const Bounds& z) {
  return x.copies || z.copies || !one_table(x, z) || x.dimension > columns_without_low_low;
}

}  // namespace fd::cuda
