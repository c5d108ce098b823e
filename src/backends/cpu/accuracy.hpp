// When the expanded form x.y - |x|^2/2 - |y|^2/2 keeps the promise.
//
// It is a sum of terms of size A = (|x|^2 + |y|^2)/2 whose result is small where the kernel matters, so its absolute error, which is
// the relative error of the kernel entry, is about eps * A (the roundings of the accumulation are independent from entry to entry and
// average out along a row). fp32: eps = 6e-8, so A <= 62 keeps entries to about 2e-6 and rows to less; fp64: eps = 1.1e-16 and
// A <= 512 keeps 6e-14.
//
// Where it holds for all points at once, the form is factored: exp(-beta |x_i - x_j|^2) = s_i 2^(x_i.x_j) s_j with s = 2^(-|x|^2/2) in
// fp64, so that Y = S (2^(x.x)) S W: weights are multiplied by s when they are packed and sums when they are done, and the entries are
// those of 2^(x_i.x_j), at most 2^62 in fp32, with nothing to add to the dot product. No term of a row is smaller than it would be
// with s_i; weights shrink to 2^-31, so those below 1e-28 lose digits in fp32.
//
// The difference form sum (x_i - x_j)^2 does not cancel, but coordinates are rounded relative to the panel's radius R: its error is
// about eps * R * |x_i - x_j|, with |x_i - x_j| up to 5 where entries matter. fp32: R <= 12 keeps 2e-6. Beyond that coordinates are
// taken as sums of two floats. (Points given in fp64 are no better than fp64: there is no third form for it.)
//
// Fixed point, for the promises that fp32 keeps a thousandfold: coordinates as 16-bit multiples of h = 2^(-f/2), so that products and
// sums are exact and t has f bits behind the point. What is computed is the kernel of points moved by up to h/2 a coordinate; the
// error of an entry is ln 2 |x_i - x_j| times the moves' component along x_i - x_j, h/sqrt(6) in the mean square. Four standard
// deviations of it at a distance of 4, where most of a row's mass lies, make 4.5 h. In the norm much less is left: M with entries
// M_ij (x_i - x_j) is the derivative of M's Gaussian transform, at most 1/2, and the moves are random, so the kernel is off by 0.2 to
// 0.3 h (as measured on tori, planes and normal samples in 50 dimensions), and by what the polynomial for 2^f is off.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernel/gaussian.hpp"

namespace fd::cpu {

template <class T>
struct Accuracy;

template <>
struct Accuracy<float> {
  static constexpr double cancellation = 62;  // largest A for the expanded form
  static constexpr double radius = 12;        // largest R for the difference form
  static constexpr double relevant = 24;      // entries below 2^-relevant do not need their relative accuracy
};

template <>
struct Accuracy<double> {
  static constexpr double cancellation = 512;
  static constexpr double radius = 1e300;
  static constexpr double relevant = 50;
};

// Bits behind the point for points no further than `norm` from the origin; none where they would not keep the promise.
inline int fraction_bits(double norm, double row_error) {
  constexpr double largest =
      32000;  // of 2^15, so that twice the square of a norm is below 2^31 with the roundings of 10^5 coordinates
  constexpr double deepest = 125;  // an exponent may not underflow
  const int bits = std::min(30, static_cast<int>(std::floor(2 * std::log2(largest / std::max(norm, 1e-3)))));
  return bits >= 23 && 2 * norm * norm <= deepest && 4.5 * std::exp2(-0.5 * bits) <= row_error ? bits : 0;
}

// In the norm of a normalised kernel.
inline double fixed_point_error(int fraction_bits) { return 0.5 * std::exp2(-0.5 * fraction_bits) + FixedExp2::error; }

}  // namespace fd::cpu
