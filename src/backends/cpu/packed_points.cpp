#include "backends/cpu/packed_points.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/exact_sum.hpp"
#include "backends/cpu/locality_order.hpp"
#include "backends/cpu/lost_digits.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "base/pieces.hpp"
#include "base/random.hpp"
#include "base/row_census.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cpu {
namespace {

constexpr std::size_t values_a_poll = std::size_t{1} << 22, panels_a_poll = 256;

template <class T>
constexpr bool is_wide = std::is_same_v<T, double>;

// A small step of the origin, the same for all points: distances do not see it, but coordinates that are equal or opposite in many columns
// (tables of plus and minus one) are then rounded differently in each, so that the roundings of an exponent average out, not add up.
double decorrelation(std::size_t column) { return 0.1 * (Random(0x636f6c75, 0).uniform(column) - 0.5); }

}  // namespace

template <class T>
CpuPoints<T>::CpuPoints(PointSource& centred, Precision precision, const std::optional<Whole>& whole)
    : dimension_(centred.dimension()), precision_(precision) {
  const std::size_t rows = centred.rows();
  std::vector<std::size_t> order;
  {
    AlignedBuffer<T> flat(product_of(rows, dimension_));
    RowCensus census(dimension_, is_wide<T>);
    in_pieces(centred, [&](std::size_t first, std::size_t count, const double* x) {
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t c = 0; c < dimension_; ++c) flat[(first + i) * dimension_ + c] = static_cast<T>(x[i * dimension_ + c]);
        if (!whole) census.add(x + i * dimension_);
      }
    });
    table_ = whole ? whole->table : 0;
    largest_square_ = whole ? whole->largest_square : census.largest_square();
    largest_coordinate_ = whole ? whole->largest_coordinate : census.largest_coordinate();
    copies_ = whole ? whole->copies : census.copies();
    auto [places, first_row] = locality_order(flat.data(), rows, dimension_, panel_rows, [&] { centred.poll(); });
    order = std::move(places);
    first_row_ = std::move(first_row);
    panels_ = of_panels_ = first_row_.size() - 1;
    centre_ = AlignedBuffer<double>(panels_ * dimension_);
    for (std::size_t p = 0; p < panels_; ++p) {
      if (p % panels_a_poll == 0) centred.poll();
      double* centre = centre_.data() + p * dimension_;
      for (std::size_t i = first_row_[p]; i < first_row_[p + 1]; ++i)
        for (std::size_t c = 0; c < dimension_; ++c) centre[c] += static_cast<double>(flat[order[i] * dimension_ + c]);
      for (std::size_t c = 0; c < dimension_; ++c) centre[c] /= static_cast<double>(first_row_[p + 1] - first_row_[p]);
    }
  }
  // the second reading, in fp64
  std::vector<std::size_t> place(rows);  // panel * 48 + row in the panel
  for (std::size_t p = 0; p < panels_; ++p)
    for (std::size_t i = first_row_[p]; i < first_row_[p + 1]; ++i) place[order[i]] = p * panel_rows + i - first_row_[p];
  offset_ = AlignedBuffer<double>(product_of(panels_, dimension_, panel_rows));
  if (is_wide<T>) offset_low_ = AlignedBuffer<float>(panels_ * dimension_ * panel_rows);
  in_pieces(centred, [&](std::size_t first, std::size_t count, const double* x) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = place[first + i], p = at / panel_rows, r = at % panel_rows;
      for (std::size_t c = 0; c < dimension_; ++c) {
        const auto [high, low] = exact_sum(x[i * dimension_ + c], -centre_[p * dimension_ + c]);
        const std::size_t to = (p * dimension_ + c) * panel_rows + r;
        offset_[to] = high;
        if (is_wide<T>) offset_low_[to] = static_cast<float>(low);
      }
    }
  });
  layout_ = std::make_shared<const Layout>(whole ? whole->rows : rows, whole ? whole->first : 0, rows, std::move(order));
  for (const AlignedBuffer<double>* values : {&offset_, &centre_})
    for (std::size_t i = 0; i < values->size(); ++i) {
      if (i % values_a_poll == 0) centred.poll();
      content_ = mixed(content_, std::bit_cast<std::uint64_t>((*values)[i]));
    }
  make_bounds();
}

template <class T>
void CpuPoints<T>::make_bounds() {
  bounds_ = std::make_unique<PanelBounds>(offset_, centre_, first_row_, dimension_, std::sqrt(largest_square_), content_);
}

template <class T>
struct CpuPoints<T>::Visiting {
  std::size_t first = 0, last = 0;  // panels
};

template <class T>
void CpuPoints<T>::archive(Archive& archive, Visiting some) {
  std::size_t all = 0, first = 0;
  std::uint64_t content = content_;
  std::vector<std::size_t> first_row;
  if (!archive.reading()) {
    all = layout_->rows(), first = layout_->first() + first_row_[some.first];
    for (std::size_t p = some.first; p <= some.last; ++p) first_row.push_back(first_row_[p] - first_row_[some.first]);
    if (some.last - some.first < panels_) content = mixed(content, some.first);
  }
  archive(all, first, dimension_, precision_, first_row, some.first, of_panels_, largest_square_, largest_coordinate_, copies_,
          content, table_);
  if (archive.reading()) {
    content_ = content;
    first_panel_ = std::exchange(some.first, 0);
    some.last = panels_ = first_row.size() - 1;
    first_row_ = std::move(first_row);
    layout_ = std::make_shared<const Layout>(all, first, first_row_.back());
    centre_ = AlignedBuffer<double>(panels_ * dimension_);
    offset_ = AlignedBuffer<double>(product_of(panels_, dimension_, panel_rows));
    if (is_wide<T>) offset_low_ = AlignedBuffer<float>(panels_ * dimension_ * panel_rows);
    make_bounds();
  }
  const auto values = [&](auto& of, std::size_t a_panel) {
    archive.bytes(of.data() + some.first * a_panel, (some.last - some.first) * a_panel * sizeof of[0]);
  };
  values(centre_, dimension_);
  values(offset_, dimension_ * panel_rows);
  if (is_wide<T>) values(offset_low_, dimension_ * panel_rows);
}

template <class T>
CpuPoints<T>::CpuPoints(Archive& from) {
  archive(from, {});
}

template <class T>
void CpuPoints<T>::write(Archive& to, Places some) const {
  const auto panel_at = [&](std::size_t place) {
    return static_cast<std::size_t>(std::lower_bound(first_row_.begin(), first_row_.end(), place) - first_row_.begin());
  };
  // one description for both directions, which writing does not change
  const_cast<CpuPoints*>(this)->archive(to, {panel_at(some.first), panel_at(some.first + some.count)});
}

template <class T>
Places CpuPoints<T>::places(std::size_t part, std::size_t parts) const {
  const auto row_of = [&](std::size_t i) {
    return first_row_[i == parts ? panels_ : panels_ / chunk_panels * i / parts * chunk_panels];
  };
  return {row_of(part), row_of(part + 1) - row_of(part)};
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
    if (const auto pair = lost_digits(to, offset_.data(), offset_low_.data(), traits(precision_).row_error)) {
      packed_beta_ = -1;
      const auto row = [&](std::size_t place) {
        return std::to_string(layout_->row(first_row_[place / panel_rows] + place % panel_rows) + 1);
      };
      throw Error(Failure::input,
                  "rows " + row(pair->row) + " and " + row(pair->other) +
                      " are neighbours at this bandwidth, but so far from others beside them that " +
                      std::string(traits(precision_).name) + " has no digits left for their distance",
                  std::string(is_wide<T> ? "take" : "take fp64 or") +
                      " a smaller beta, or leave out rows that lie so far from all others");
    }
    packed_beta_ = beta;
  }
  return to;
}

template <class T>
void CpuPoints<T>::pack(double reference, bool local, double cancellation, Team& team) const {
  PackedPoints<T>& to = packed_;
  packed_reference_ = -1;  // until all is done
  to.rows = rows();
  to.of_rows = layout_->rows();
  to.first_panel = first_panel_, to.of_panels = of_panels_;
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
  to.packing = {content_, reference, local, local ? cancellation : 0};
  packed_reference_ = reference;
}

template class CpuPoints<float>;
template class CpuPoints<double>;

}  // namespace fd::cpu
