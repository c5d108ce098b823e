// Which arithmetic keeps a promise for points within given bounds (the reasons are in cpu/accuracy.hpp; what is different here is said below). Points
// are scaled by sqrt(2 beta log2 e), so that entries are 2^t with t = -|x - y|^2 / 2.
//
// The fused kernel expands |x - y|^2.
//
// Two parts: right to about 2e-6 in fp32 while |x|^2 <= 62. Points are sums of two 16-bit floats, the high part a multiple of 2^-9; its products are
// exact. What is left:
// - Low parts are off by 2^-22 a coordinate. Norms are those of the points as they are packed, so a distance is off by |x - y| times that, not |x|. All
//   coordinates are moved by a step that differs from column to column (`shift`): tables of few values are not rounded alike in every column.
// - Without the product of the low parts an exponent is off by sum l_i l_j, of size sqrt(D) 2^-18 / 12 where low parts are unrelated and by D 2^-18 / 12 for
//   rows that are equal; never by more than D 2^-20. So it is made where rows are equal or may be, and for many columns; for looser promises where that
//   bound asks for it.
//
// One part, for the promises of tf32 and bf16: coordinates are multiples of h, the smallest power of two for which they have 11 bits. As norms are those of
// the rounded points, t is off by d.e + |e|^2 / 2 for d = x - y and the difference e of two roundings, |e_c| <= h: by tau(r) = h sqrt(D) r + D h^2 / 2 at most
// for rows at distance r, whatever the points. (For most it is far less: the shift is uniform modulo h, and roundings of different columns are unrelated. But
// points can be built of which all roundings add up, and a promise holds for these too.) A row of K |W| is off by 2^tau - 1 at the largest distance there is,
// for weights may leave nothing of it but its farthest neighbours. In the norm a normalised kernel is off by the largest row sum of P_ij (2^tau_ij - 1) at
// most, and a row of P holds its own point: there r is the average distance (kernel/mean_distance.hpp). Products are multiples of h^2, and exact as long as
// |x| <= 2^12 h; beyond that a tensor core cuts each of 8 products, the sum they are added to, and the result, to 24 bits: 22 units of 2^-24 |x|^2 in 16
// coordinates. h is 2^-11 of the largest coordinate, so for few columns and large norms this is no choice, and the form in two parts is taken.
//
// Rough sums, for the same promises: entries and weights are 16-bit floats, each right to 2^-11 and all of them wrong by as much the same way at worst. That
// leaves tf32 2e-5 for exponents, which those of two parts keep.
//
// The direct kernel subtracts coordinates first: its error is a few units of the last place of t, whatever the bounds. Coordinates are not moved or scaled
// but by a power of two, so nothing is lost before the subtraction.
//
// Products of coordinates in fp64, x.y - |x|^2/2 - |y|^2/2: the three terms are up to S = |x|^2 each, S/2 the halves, t up to 2 S (all scaled). With u = 2^-53
// sixteen products summed in turn are off by 16 u S (Cauchy and Schwarz bound the sum over all chunks of 16), their compensated sum by 2 u S; two halves,
// each of D/32 terms a lane and 5 sums of lanes, by (D/32 + 6) u S; two subtractions by 3.5 u S; the factor, and its own rounding, by 4 u S. An entry is off by
// ln 2 times that, whatever the points.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include <flashdiffusion/precision.hpp>

#include "backends/cuda/kernels/arguments.hpp"
#include "base/random.hpp"
#include "kernel/gaussian.hpp"
#include "kernel/mean_distance.hpp"

namespace fd::cuda {

// The sum of high parts, which begins at 14 - (|x|^2 + |y|^2)/2, is exact while it stays above -64. Between rows of one table it falls below for pairs alone
// whose entries are nothing beside the row's own; between two tables such pairs may be all there are.
constexpr double largest_fused_square = 62, largest_fused_square_of_two = 38;
// Rows that are nearly equal share their low parts like copies, and nobody knows of them: the bound itself, ln 2 D 2^-20, must leave room for the rest (1.5e-5
// was measured at 24 columns).
constexpr std::size_t columns_without_low_low = 5;
constexpr double largest_shift = 0x1p-9, high_step = 0x1p-9;
// Of a sum of entries and weights in one part each, and of exponents in two parts, with what ex2 and sums in fp32 add.
constexpr double rough_sums_error = 2 * 0x1p-11 + 0x1p-22, two_parts_error = 6e-6;
constexpr double loose_promise = 1e-4;  // from here on few bits may do

inline double shift(std::size_t column) { return largest_shift * (2 * Random(0x5EED, 1).uniform(column) - 1); }

struct Bounds {
  double square = 0;      // of |x|, largest
  double coordinate = 0;  // |x_c|, largest
  std::size_t dimension = 0;
  std::size_t rows = 0;     // of the table
  bool copies = false;      // some rows are the same
  std::uint64_t table = 0;  // that the rows are part of (Whole); 0: they are all there are
};

// Rows of one table, here and on another rank perhaps; those of different tables may be equal.
inline bool one_table(const Bounds& x, const Bounds& z) { return &x == &z || (x.table != 0 && x.table == z.table); }

enum class Form { fused, direct };
struct Arithmetic {
  Form form = Form::direct;
  int parts = 2, sum_parts = 2;  // of coordinates; of entries and weights where tensor cores sum
  double step = high_step;       // that high parts are multiples of
  bool low_low = true;           // the product of two low parts is made
  double norm_error = 0;         // of a normalised kernel in the norm, where it may be more than fp32's
};

// Coordinates in one part: their step, what a row of a product is off by at most, and a normalised kernel in the norm.
struct OnePart {
  double step, row_error, norm_error;
};
inline OnePart one_part(double beta, const Bounds& x, const Bounds& z) {
  const double scale = Gaussian::point_scale(beta), dimension = static_cast<double>(x.dimension);
  const double norm = scale * std::sqrt(std::max(x.square, z.square)), moved = norm + largest_shift * std::sqrt(dimension);
  const double coordinate = scale * std::max(x.coordinate, z.coordinate) + largest_shift;
  const double step = std::exp2(std::ceil(std::log2(coordinate / 2047))), steps = std::ceil(dimension / step_columns);
  const auto exponent_error = [&](double distance) {
    return step * std::sqrt(dimension) * distance + dimension / 2 * step * step;
  };
  const double farthest = std::numbers::ln2 * exponent_error(2 * norm), row = std::expm1(farthest);
  const double cut =
      moved <= 0x1p12 * step ? 0 : std::numbers::ln2 * 22 * steps * std::exp2(std::floor(2 * std::log2(moved)) - 24);
  const double rest = cut + two_parts_error;
  // 2^tau - 1 <= row / farthest ln 2 tau up to the farthest: the average of tau counts
  const double mean = one_table(x, z) ? std::min(2 * norm, mean_distance(static_cast<double>(x.rows))) : 2 * norm;
  const double average = farthest > 0 ? row / farthest * std::numbers::ln2 * exponent_error(mean) : 0;
  return {step, row + rest, average + rest};
}

// Whether products of coordinates leave enough of the promise of fp64 for the exponential and for sums.
inline bool products_in_double(double beta, const Bounds& x, const Bounds& z) {
  const double scale = Gaussian::point_scale(beta), square = scale * scale * std::max(x.square, z.square);
  const double error = std::numbers::ln2 * 0x1p-53 * (31.5 + static_cast<double>(x.dimension) / 32) * square;
  return error <= 0.6 * traits(Precision::fp64).row_error;
}

// For a product of so many columns, of which tensor cores sum groups of five and more in a product of two sides.
inline Arithmetic arithmetic_for(Precision promise, double beta, const Bounds& x, const Bounds& z, std::size_t columns,
                                 bool two_sided) {
  Arithmetic chosen;
  if (traits(promise).wide_panels) return chosen;
  const double dimension = static_cast<double>(x.dimension);
  const double norm =
      Gaussian::point_scale(beta) * std::sqrt(std::max(x.square, z.square)) + largest_shift * std::sqrt(dimension);
  if (!(norm * norm <= (one_table(x, z) ? largest_fused_square : largest_fused_square_of_two))) return chosen;
  chosen.form = Form::fused;
  chosen.low_low = x.copies || z.copies || !one_table(x, z) || x.dimension > columns_without_low_low;
  const double permitted = traits(promise).row_error;
  if (permitted < loose_promise) return chosen;

  const bool many = two_sided && columns > 4;
  const OnePart one = one_part(beta, x, z);
  // products of 16-bit floats a pair of rows: 16 a step and part of coordinates (3 for two parts), and 2 a column and part of sums
  const bool wide =
      32 * std::ceil(dimension / step_columns) >= 4.0 * static_cast<double>(std::min<std::size_t>(columns, most_columns));
  if (one.row_error + (many ? rough_sums_error : 0) <= permitted || (one.row_error <= permitted && wide)) {
    chosen.parts = 1, chosen.step = one.step, chosen.norm_error = one.norm_error;
    if (many && one.row_error + rough_sums_error <= permitted) chosen.sum_parts = 1;
  } else {
    if (many) chosen.sum_parts = 1;
    const double without_low_low = std::numbers::ln2 * dimension * 0x1p-20;
    if (without_low_low + two_parts_error + (many ? rough_sums_error : 0) <= permitted) {
      if (chosen.low_low) chosen.norm_error = without_low_low;
      chosen.low_low = false;
    }
  }
  if (chosen.sum_parts == 1) chosen.norm_error += rough_sums_error;
  return chosen;
}

}  // namespace fd::cuda
