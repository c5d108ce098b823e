#include "backends/cpu/packed_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/exact_sum.hpp"
#include "backends/cpu/locality_order.hpp"
#include "base/pieces.hpp"
#include "base/random.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cpu {
namespace {

template <class T>
constexpr bool is_wide = std::is_same_v<T, double>;

// A small step of the origin, the same for all points: distances do not see it, but coordinates that are equal or opposite in many columns
// (tables of plus and minus one) are then rounded differently in each, so that the roundings of an exponent average out, not add up.
double decorrelation(std::size_t column) { return 0.1 * (Random(0x636f6c75, 0).uniform(column) - 0.5); }

// Rows in the order of a number that equal ones share, and those that share one compared.
template <class T>
bool any_row_twice(const T* x, std::size_t rows, std::size_t dimension) {
  std::vector<std::pair<std::uint64_t, std::size_t>> marked(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    std::uint64_t mark = 0;
    for (std::size_t c = 0; c < dimension; ++c) {
      const T value = x[i * dimension + c] + T{0};  // one zero, not two
      std::conditional_t<is_wide<T>, std::uint64_t, std::uint32_t> bits;
      std::memcpy(&bits, &value, sizeof(value));
      mark = (mark ^ bits) * 0x9e3779b97f4a7c15u;
      mark ^= mark >> 29;
    }
    marked[i] = {mark, i};
  }
  std::sort(marked.begin(), marked.end());
  for (std::size_t i = 1; i < rows; ++i) {
    const T *a = x + marked[i - 1].second * dimension, *b = x + marked[i].second * dimension;
    if (marked[i].first == marked[i - 1].first && std::equal(a, a + dimension, b)) return true;
  }
  return false;
}

}  // namespace

template <class T>
CpuPoints<T>::CpuPoints(PointSource& centred, Precision precision)
    : rows_(centred.rows()), dimension_(centred.dimension()), precision_(precision) {
  {
    AlignedBuffer<T> flat(product_of(rows_, dimension_));
    in_pieces(centred, [&](std::size_t first, std::size_t count, const double* rows) {
      for (std::size_t i = 0; i < count; ++i) {
        double square = 0;
        for (std::size_t c = 0; c < dimension_; ++c) {
          flat[(first + i) * dimension_ + c] = static_cast<T>(rows[i * dimension_ + c]);
          square += rows[i * dimension_ + c] * rows[i * dimension_ + c];
          largest_coordinate_ = std::max(largest_coordinate_, std::abs(rows[i * dimension_ + c]));
        }
        largest_square_ = std::max(largest_square_, square);
      }
    });
    copies_ = any_row_twice(flat.data(), rows_, dimension_);
    auto [order, first_row] = locality_order(flat.data(), rows_, dimension_, panel_rows);
    order_ = std::move(order);
    first_row_ = std::move(first_row);
    panels_ = first_row_.size() - 1;
    centre_ = AlignedBuffer<double>(panels_ * dimension_);
    for (std::size_t p = 0; p < panels_; ++p) {
      double* centre = centre_.data() + p * dimension_;
      for (std::size_t i = first_row_[p]; i < first_row_[p + 1]; ++i)
        for (std::size_t c = 0; c < dimension_; ++c) centre[c] += static_cast<double>(flat[order_[i] * dimension_ + c]);
      for (std::size_t c = 0; c < dimension_; ++c) centre[c] /= static_cast<double>(first_row_[p + 1] - first_row_[p]);
    }
  }
  // the second reading, in fp64
  std::vector<std::size_t> place(rows_);  // panel * 48 + row in the panel
  for (std::size_t p = 0; p < panels_; ++p)
    for (std::size_t i = first_row_[p]; i < first_row_[p + 1]; ++i) place[order_[i]] = p * panel_rows + i - first_row_[p];
  offset_ = AlignedBuffer<double>(product_of(panels_, dimension_, panel_rows));
  if (is_wide<T>) offset_low_ = AlignedBuffer<float>(panels_ * dimension_ * panel_rows);
  in_pieces(centred, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = place[first + i], p = at / panel_rows, r = at % panel_rows;
      for (std::size_t c = 0; c < dimension_; ++c) {
        const auto [high, low] = exact_sum(rows[i * dimension_ + c], -centre_[p * dimension_ + c]);
        const std::size_t to = (p * dimension_ + c) * panel_rows + r;
        offset_[to] = high;
        if (is_wide<T>) offset_low_[to] = static_cast<float>(low);
      }
    }
  });
  bounds_ = std::make_unique<PanelBounds>(offset_, centre_, first_row_, dimension_, std::sqrt(largest_square_));
}

template <class T>
double CpuPoints<T>::cancellation(bool beside_others) const {
  return largest_cancellation<T>(dimension_, copies_ || beside_others);
}

template <class T>
bool CpuPoints<T>::wants_local(double beta, bool beside_others) const {
  const double scale = Gaussian::point_scale(beta);
  return scale * scale * largest_square_ > cancellation(beside_others);  // |a_i| + |a_j| of the largest pair
}

template <class T>
double CpuPoints<T>::norm(double beta) const {
  return Gaussian::point_scale(beta) * std::sqrt(largest_square_) * (1 + 1e-5);
}

template <class T>
double CpuPoints<T>::coordinate(double beta) const {
  return Gaussian::point_scale(beta) * largest_coordinate_ * (1 + 1e-5);
}

template <class T>
const PackedPoints<T>& CpuPoints<T>::packed(double beta, double reference, bool local, bool beside_others, Team& team) const {
  // squared distances between panels are sums of squares in T
  if (constexpr double largest = is_wide<T> ? 1e153 : 1e18; !(norm(reference) <= largest))
    throw Error(Failure::input, "the points are too far apart for this bandwidth: scaled distances overflow",
                "remove rows far from all others, or give a smaller beta");
  PackedPoints<T>& to = packed_;
  const double most = cancellation(beside_others);
  const bool anew = packed_reference_ != reference || packed_.local != local || (local && packed_.cancellation != most);
  if (anew) pack(reference, local, most, team);
  if (anew || packed_beta_ != beta) {
    to.multiple = beta / reference;
    for (std::size_t i = 0; i < panels_ * panel_rows; ++i)
      to.factor[i] = local ? 1 : std::exp2(-0.5 * to.multiple * to.square[i]);
    packed_beta_ = beta;
  }
  return to;
}

template <class T>
void CpuPoints<T>::pack(double reference, bool local, double cancellation, Team& team) const {
  PackedPoints<T>& to = packed_;
  packed_reference_ = -1;  // until all is done
  to.rows = rows_;
  to.panels = panels_;
  to.dimension = dimension_;
  to.local = local;
  to.cancellation = cancellation;
  to.x.at_least(panels_ * dimension_ * panel_rows);
  if (local) to.low.at_least(panels_ * dimension_ * panel_rows), to.half.at_least(panels_ * panel_rows);
  to.factor.at_least(panels_ * panel_rows);
  to.square.at_least(panels_ * panel_rows);
  to.centre.at_least(panels_ * dimension_);
  to.exact_centre = centre_.data();
  to.first_row = first_row_.data();
  to.radius.at_least(panels_);
  to.centre_error.at_least(panels_);
  to.bounds = bounds_.get();
  const double scale = to.scale = Gaussian::point_scale(reference);
  team.run(panels_, [&](std::size_t p, int) {
    const double* from = offset_.data() + p * dimension_ * panel_rows;
    const double* centre = centre_.data() + p * dimension_;
    T* x = to.x.data() + p * dimension_ * panel_rows;
    const std::size_t filled = first_row_[p + 1] - first_row_[p];
    double square[panel_rows] = {}, spread[panel_rows] = {};
    for (std::size_t c = 0; c < dimension_; ++c) {
      const double shift = local ? 0.0 : scale * centre[c] + decorrelation(c);
      for (std::size_t r = 0; r < filled; ++r) {
        const double moved = scale * from[c * panel_rows + r];
        const T value = static_cast<T>(moved + shift);
        x[c * panel_rows + r] = value;
        if (local) {
          const std::size_t at = (p * dimension_ + c) * panel_rows + r;
          const double low = is_wide<T> ? exact_multiple(scale, {offset_[at], static_cast<double>(offset_low_[at])}).low
                                        : moved - static_cast<double>(value);
          to.low[at] = static_cast<T>(low);
        }
        square[r] += static_cast<double>(value) * static_cast<double>(value);
        spread[r] += moved * moved;
      }
      to.centre[p * dimension_ + c] = static_cast<T>(scale * centre[c]);
    }
    double widest = 0, far = 0;
    for (std::size_t c = 0; c < dimension_; ++c) far += std::pow(scale * centre[c], 2);
    to.centre_error[p] = static_cast<T>(std::sqrt(far)) * std::numeric_limits<T>::epsilon();
    for (std::size_t r = 0; r < panel_rows; ++r) {
      if (local) to.half[p * panel_rows + r] = static_cast<T>(-0.5 * square[r]);
      to.square[p * panel_rows + r] = square[r];
      widest = std::max(widest, spread[r]);
    }
    to.radius[p] = static_cast<T>(std::sqrt(widest) * (1 + 1e-5));
  });
  to.packing = std::make_shared<int>();
  packed_reference_ = reference;
}

template class CpuPoints<float>;
template class CpuPoints<double>;

}  // namespace fd::cpu
