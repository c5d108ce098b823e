#include "backends/cpu/packed_points.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/locality_order.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cpu {
namespace {

// Calls f(first, count, rows) over the source in pieces.
template <class F>
void in_pieces(PointSource& source, F&& f) {
  const std::size_t dimension = source.dimension();
  const std::size_t piece = std::clamp<std::size_t>((std::size_t{1} << 20) / std::max<std::size_t>(1, dimension), 1, source.rows());
  std::vector<double> rows(piece * dimension);
  for (std::size_t first = 0; first < source.rows(); first += piece) {
    const std::size_t count = std::min(piece, source.rows() - first);
    source.read(first, count, rows.data());
    f(first, count, rows.data());
  }
}

}  // namespace

template <class T>
CpuPoints<T>::CpuPoints(PointSource& centred, Precision precision, Team&)
    : rows_(centred.rows()), dimension_(centred.dimension()), panels_((rows_ + panel_rows - 1) / panel_rows), precision_(precision) {
  {
    std::vector<T> flat(rows_ * dimension_);
    in_pieces(centred, [&](std::size_t first, std::size_t count, const double* rows) {
      for (std::size_t i = 0; i < count; ++i) {
        double square = 0;
        for (std::size_t c = 0; c < dimension_; ++c) {
          flat[(first + i) * dimension_ + c] = static_cast<T>(rows[i * dimension_ + c]);
          square += rows[i * dimension_ + c] * rows[i * dimension_ + c];
        }
        largest_square_ = std::max(largest_square_, square);
      }
    });
    order_ = locality_order(flat.data(), rows_, dimension_, panel_rows);
    centre_ = AlignedBuffer<double>(panels_ * dimension_);
    for (std::size_t p = 0; p < panels_; ++p) {
      const std::size_t last = std::min(rows_, (p + 1) * panel_rows);
      double* centre = centre_.data() + p * dimension_;
      for (std::size_t i = p * panel_rows; i < last; ++i)
        for (std::size_t c = 0; c < dimension_; ++c) centre[c] += static_cast<double>(flat[order_[i] * dimension_ + c]);
      for (std::size_t c = 0; c < dimension_; ++c) centre[c] /= static_cast<double>(last - p * panel_rows);
    }
  }
  // the second reading, in fp64: x - centre is rounded once, relative to the size of a panel and not of the whole
  std::vector<std::size_t> place(rows_);
  for (std::size_t i = 0; i < rows_; ++i) place[order_[i]] = i;
  offset_ = AlignedBuffer<T>(panels_ * dimension_ * panel_rows);
  in_pieces(centred, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = place[first + i], p = at / panel_rows, r = at % panel_rows;
      T* panel = offset_.data() + p * dimension_ * panel_rows;
      for (std::size_t c = 0; c < dimension_; ++c)
        panel[c * panel_rows + r] = static_cast<T>(rows[i * dimension_ + c] - centre_[p * dimension_ + c]);
    }
  });
}

template <class T>
bool CpuPoints<T>::wants_local(double beta) const {
  const double scale = Gaussian::point_scale(beta);
  return scale * scale * largest_square_ > Accuracy<T>::cancellation;  // |a_i| + |a_j| of the largest pair
}

template <class T>
const PackedPoints<T>& CpuPoints<T>::packed(double beta, bool need_local, Team& team) const {
  const bool local = need_local || wants_local(beta);
  if (packed_beta_ == beta && packed_.local == local) return packed_;
  PackedPoints<T>& to = packed_;
  to.rows = rows_;
  to.panels = panels_;
  to.dimension = dimension_;
  to.local = local;
  to.x.at_least(panels_ * dimension_ * panel_rows);
  to.half.at_least(panels_ * panel_rows);
  to.centre.at_least(panels_ * dimension_);
  to.exact_centre.at_least(panels_ * dimension_);
  to.radius.at_least(panels_);
  const double scale = Gaussian::point_scale(beta);
  team.run(panels_, [&](std::size_t p, int) {
    const T* from = offset_.data() + p * dimension_ * panel_rows;
    const double* centre = centre_.data() + p * dimension_;
    T* x = to.x.data() + p * dimension_ * panel_rows;
    const std::size_t filled = std::min(rows_ - p * panel_rows, panel_rows);
    double square[panel_rows] = {}, spread[panel_rows] = {};
    for (std::size_t c = 0; c < dimension_; ++c) {
      const double shift = local ? 0.0 : scale * centre[c];
      for (std::size_t r = 0; r < filled; ++r) {
        const double moved = scale * static_cast<double>(from[c * panel_rows + r]);
        const T value = static_cast<T>(moved + shift);
        x[c * panel_rows + r] = value;
        square[r] += static_cast<double>(value) * static_cast<double>(value);
        spread[r] += moved * moved;
      }
      to.exact_centre[p * dimension_ + c] = scale * centre[c];
      to.centre[p * dimension_ + c] = static_cast<T>(scale * centre[c]);
    }
    double widest = 0;
    for (std::size_t r = 0; r < panel_rows; ++r) {
      to.half[p * panel_rows + r] = static_cast<T>(-0.5 * square[r]);
      widest = std::max(widest, spread[r]);
    }
    to.radius[p] = static_cast<T>(std::sqrt(widest) * (1 + 1e-5));
  });
  packed_beta_ = beta;
  return packed_;
}

template class CpuPoints<float>;
template class CpuPoints<double>;

}  // namespace fd::cpu
