// When the expanded form x.y - |x|^2/2 - |y|^2/2 keeps the promise.
//
// It is a sum of terms of size A = (|x|^2 + |y|^2)/2 whose result is small where the kernel matters, so its absolute error, which
// is the relative error of the kernel entry, is about eps * A. fp32: eps = 6e-8, so A <= 62 keeps entries to about 4e-6; fp64: eps =
// 1.1e-16 and A <= 512 keeps 6e-14. Along a row the roundings of entries average out where they are independent. In tables of few
// distinct values they are not: coordinates that are equal or opposite in many columns would be rounded alike in each, and the errors
// of a row would add up. So coordinates are decorrelated (packed_points.cpp): the origin is moved by a small step that differs from
// column to column, which distances do not see. Copies of a row are another matter: their entries with each other are all
// rounded alike, and a sum of D terms whose size is A is off by some eps A sqrt(D) in each of them. So where a table holds copies, or
// is multiplied with another that may hold the same rows, A sqrt(D) is bounded too; the difference form has no error for rows that do not differ. The promise of fp32 is 6e-6 (base/precision.cpp).
//
// Where it holds for all points at once, the form is factored: exp(-beta |x_i - x_j|^2) = s_i 2^(x_i.x_j) s_j with s =
// 2^(-|x|^2/2) in fp64, so that Y = S (2^(x.x)) S W: weights are multiplied by s when they are packed and sums when they are
// done, and the entries are those of 2^(x_i.x_j), at most 2^62 in fp32, with nothing to add to the dot product. No term of a row
// is smaller than it would be with s_i; weights shrink to 2^-31, so those below 1e-28 lose digits in fp32.
//
// The difference form sum (x_i - x_j)^2 does not cancel, but coordinates are rounded relative to the panel's radius R: its error
// is about eps * R * |x_i - x_j|, with |x_i - x_j| up to 5 where entries matter. fp32: R <= 12 keeps 2e-6; fp64: R <= 128 keeps
// 5e-14. Beyond that, as in a panel that holds rows of clusters far apart, coordinates are taken as sums of two numbers.
//
// Fixed point, for the promises that fp32 keeps a thousandfold: coordinates as 16-bit multiples of h = 2^(-f/2), so that products
// and sums are exact and t has f bits behind the point. Before it is rounded, coordinate c of all points is moved by the same
// u_c, random in [-h/2, h/2): distances do not change, equal coordinates stay equal, and the difference d_c of two coordinates is
// rounded to one of its two neighbouring multiples of h with an error e_c whose mean over u_c is zero, independently from
// coordinate to coordinate. So whatever the points (with the same roundings in every column their errors would add up), t is off
// by the sum of d_c e_c, which by Hoeffding's lemma is sub-Gaussian with sigma = h |x_i - x_j| / 2, and by sum e_c^2 / 2, about D
// h^2 / 8 at most. An average of such errors, be it over a row of K |W| or of P, is sub-Gaussian with the average of the sigmas:
// sigma = ln 2 (h/2) r for an average distance r. A row of K |W| is off by more than 4 sigma with a probability below 2 exp(-8) =
// 7e-4, where all fractions are at their worst.
//
// The average distance r of a row that holds its own point, at a weight no smaller than those of its N neighbours, is largest
// where all of them are at one distance (kernel/mean_distance.hpp). (P weighs points by q^-alpha, alpha <= 1: where many near points make a
// row's own weight small, together they weigh no less than one.) A row of a rectangular product need not hold a near point: r is
// the largest distance there is.
//
// In the norm: with M similar to the row-stochastic P and its entries off by the factors 1 + eta_ij, |M - M~| is at most the
// largest row sum of P_ij |eta_ij|. One row's is beyond c sigma with a probability of at most 2 exp(-c^2/2), so none of N is,
// with a probability of 0.999, for c^2 = 2 ln(2000 N). (On tori, planes and normal samples, whose roundings are unrelated, it is
// 0.2 to 0.3 h: a fortieth of this.)
//
// Sums of two 16-bit floats (8 bits each), for the same promises where a machine multiplies tiles of them: a coordinate is off by
// 2^-18 of itself at most, a distance by 2^-18 (|x| + |y|), and x.y by 2^-18 |x| |y| for leaving out low.low: no more, whatever
// the points.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernel/gaussian.hpp"
#include "kernel/mean_distance.hpp"

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
  static constexpr double radius = 128;
  static constexpr double relevant = 50;
};

// The largest A for points of this many columns, some of them copies of others or not.
template <class T>
double largest_cancellation(std::size_t dimension, bool copies) {
  constexpr double columns = 2;
  const double most = Accuracy<T>::cancellation;
  return copies ? most * std::min(1.0, std::sqrt(columns / static_cast<double>(dimension))) : most;
}

// In what numbers points are packed: T, 16-bit whole numbers, or sums of two 16-bit floats.
enum class Numbers { floats, fixed, split };
struct Coding {
  Numbers numbers = Numbers::floats;
  int fraction_bits = 0;  // of exponents in fixed point
  bool operator==(const Coding&) const = default;
};

// What the points of a product, scaled for its bandwidth, are bounded by.
struct Bounds {
  double norm;        // of a row
  double coordinate;  // its size
  double distance;    // on the average over the mass of a row of the product
  double dimension;
};

// Sigma of the error of an average over the mass of a row, in fixed point, and what is no matter of chance.
inline double fixed_sigma(int fraction_bits, const Bounds& bounds) {
  return std::numbers::ln2 / 2 * std::exp2(-0.5 * fraction_bits) * bounds.distance;
}
inline double fixed_bias(int fraction_bits, const Bounds& bounds) {
  return std::numbers::ln2 / 4 * std::exp2(-fraction_bits) * bounds.dimension + FixedExp2::error;
}

inline double split_error(const Bounds& bounds) {
  return std::numbers::ln2 * std::exp2(-18) * bounds.norm * (2 * bounds.distance + bounds.norm);
}

// `few`, where it keeps the promise for points within the bounds; else floats, which keep every promise that is not much looser
// than theirs.
inline Coding coding_for(Numbers few, const Bounds& bounds, double row_error) {
  if (few == Numbers::floats || row_error < 100 * FixedExp2::error) return {};
  if (!(bounds.norm * bounds.norm <= Accuracy<float>::cancellation)) return {};
  if (few == Numbers::split) return split_error(bounds) <= row_error ? Coding{few} : Coding{};
  // In units of h a coordinate is below 2^15 and the square of a norm below 2^31, with a rounding and u_c in each coordinate.
  const double unit = std::min((46340 - std::sqrt(bounds.dimension)) / std::max(bounds.norm, 1e-3),
                               (32767 - 1) / std::max(bounds.coordinate, 1e-3));
  const int bits = std::min(30, static_cast<int>(std::floor(2 * std::log2(std::max(unit, 1.0)))));
  constexpr int least = 23;  // those of a float
  return bits >= least && 4 * fixed_sigma(bits, bounds) + fixed_bias(bits, bounds) <= row_error ? Coding{few, bits} : Coding{};
}

// In the norm of a normalised kernel of so many rows.
inline double coding_error(Coding coding, const Bounds& bounds, double rows) {
  switch (coding.numbers) {
    case Numbers::fixed:
      return std::sqrt(2 * std::log(2000 * rows)) * fixed_sigma(coding.fraction_bits, bounds) +
             fixed_bias(coding.fraction_bits, bounds);
    case Numbers::split: return split_error(bounds);
    default: return 0;
  }
}

}  // namespace fd::cpu
