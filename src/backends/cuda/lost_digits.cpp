#include "backends/cuda/lost_digits.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>

namespace fd::cuda {
namespace {

constexpr double near = 12;  // |t|^2 of neighbours, K = 2^-(|t|^2 / 2): entries of 2^-6 and more
// What a difference of two coordinates a and b loses at most, relative to |a| + |b|: each is a sum of two floats, and low parts are subtracted as floats.
// Coordinates that are equal are rounded alike.
constexpr double last = 0x1p-49;

// K is off by the factor 2^-(t.e + |e|^2 / 2) where a difference t is off by e.
bool lost(const double* a, const double* b, std::size_t dimension, double scale, double allowed) {
  double square = 0, off = 0;
  for (std::size_t c = 0; c < dimension && square < near; ++c) {
    const double t = scale * std::abs(a[c] - b[c]);
    if (t == 0) continue;
    const double e = last * scale * (std::abs(a[c]) + std::abs(b[c]));
    off += t * e + 0.5 * e * e;
    square += t * t;
  }
  return square < near && !(off <= allowed);
}

}  // namespace

void refuse_lost_digits(double beta, const CudaPoints& x, const CudaPoints& z) {
  if (&x == &z && x.holds_digits(beta)) return;
  const double scale = Gaussian::point_scale(beta), reach = std::sqrt(near) / scale;
  const double allowed = traits(x.precision()).row_error / std::numbers::ln2;
  // t.e <= |t| |e| <= sqrt(near) last scale (|a| + |b|): half of the length at which that may be too much is for |e|^2 and for |a| being another than |b|
  const double limit = 0.5 * allowed / (2 * last * std::sqrt(near) * scale);
  const CudaPoints::FarRows far_x = x.rows_beyond(limit), far_z = &x == &z ? CudaPoints::FarRows() : z.rows_beyond(limit);
  const CudaPoints::FarRows& other = &x == &z ? far_x : far_z;
  const std::size_t dimension = x.dimension();
  std::vector<std::size_t> order(other.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return other.coordinates[a * dimension] < other.coordinates[b * dimension]; });
  for (std::size_t i = 0; i < far_x.rows.size(); ++i) {
    const double* const a = far_x.coordinates.data() + i * dimension;
    const auto first = std::partition_point(order.begin(), order.end(),
                                            [&](std::size_t j) { return other.coordinates[j * dimension] < a[0] - reach; });
    for (auto j = first; j != order.end() && other.coordinates[*j * dimension] <= a[0] + reach; ++j)
      if ((&x != &z || *j != i) && lost(a, other.coordinates.data() + *j * dimension, dimension, scale, allowed))
        throw Error(Failure::input,
                    "rows " + std::to_string(far_x.rows[i] + 1) + " and " + std::to_string(other.rows[*j] + 1) +
                        " are neighbours at this bandwidth, but so far from others that " +
                        std::string(traits(x.precision()).name) + " has no digits left for their distance",
                    "take fp64 or a smaller beta, or leave out rows that lie so far from all others");
  }
  if (&x == &z) x.note_digits(beta);
}

}  // namespace fd::cuda
