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
//
// Sums of two 16-bit floats (8 bits each), for the same promises where a machine multiplies tiles of them: a coordinate is off by 2^-18 of
// itself at most, and so is x.y for leaving out low.low, so that the three together are at most 3 2^-18 |x| |y|.
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

// In what numbers points are packed: T, 16-bit whole numbers, or sums of two 16-bit floats.
enum class Numbers { floats, fixed, split };
struct Coding {
  Numbers numbers = Numbers::floats;
  int fraction_bits = 0;  // of exponents in fixed point
  bool operator==(const Coding&) const = default;
};

// The error of an entry of the kernel in sums of two 16-bit floats.
inline double split_error(double norm) { return 3 * std::exp2(-18) * 0.6932 * norm * norm; }

// `few`, where points no further than `norm` from the origin keep the promise in it; else floats.
inline Coding coding_for(Numbers few, double norm, double row_error) {
  if (few == Numbers::floats || norm * norm > Accuracy<float>::cancellation) return {};
  if (few == Numbers::split) return split_error(norm) <= row_error ? Coding{few} : Coding{};
  constexpr double largest = 32000;  // of 2^15, so that the square of a norm is below 2^31 with the roundings of 10^5 coordinates
  const int bits = std::min(30, static_cast<int>(std::floor(2 * std::log2(largest / std::max(norm, 1e-3)))));
  return bits >= 23 && 4.5 * std::exp2(-0.5 * bits) <= row_error ? Coding{few, bits} : Coding{};
}

// In the norm of a normalised kernel.
inline double coding_error(Coding coding, double norm) {
  switch (coding.numbers) {
    case Numbers::fixed: return 0.5 * std::exp2(-0.5 * coding.fraction_bits) + FixedExp2::error;
    case Numbers::split: return split_error(norm);
    default: return 0;
  }
}

}  // namespace fd::cpu
