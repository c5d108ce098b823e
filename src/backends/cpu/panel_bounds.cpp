#include "backends/cpu/panel_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/packed_points.hpp"
#include "base/random.hpp"

namespace fd::cpu {
namespace {

constexpr std::size_t most_axes = 8, many_panels = 256;
constexpr int power_steps = 4;  // towards the leading directions; any that are orthonormal will do

// Rows of `direction` become orthonormal; false where they are not independent.
bool orthonormalise(std::vector<double>& direction, std::size_t dimension) {
  for (std::size_t a = 0; a < direction.size() / dimension; ++a) {
    double* const v = direction.data() + a * dimension;
    const auto along = [&](const double* u) {
      double sum = 0;
      for (std::size_t c = 0; c < dimension; ++c) sum += u[c] * v[c];
      return sum;
    };
    const double before = std::sqrt(along(v));
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t b = 0; b < a; ++b) {
        const double* const u = direction.data() + b * dimension;
        const double share = along(u);
        for (std::size_t c = 0; c < dimension; ++c) v[c] -= share * u[c];
      }
    const double length = std::sqrt(along(v));
    if (!(length > 1e-6 * before) || !std::isfinite(length)) return false;
    for (std::size_t c = 0; c < dimension; ++c) v[c] /= length;
  }
  return true;
}

}  // namespace

double PanelBounds::coordinate(std::size_t panel, std::size_t c, std::size_t r) const {
  return centre_[panel * dimension_ + c] + offset_[(panel * dimension_ + c) * panel_rows + r];
}

// The leading principal directions of the centres, by a few steps of the power method.
void PanelBounds::choose_axes() {
  const std::size_t panels = first_row_.size() - 1;
  axes_ = 0;
  if (dimension_ <= most_axes) axes_ = dimension_;
  if (axes_ > 0 || panels < many_panels) return;
  const Random random(0x61786573, 0);
  direction_.resize(most_axes * dimension_);
  for (std::size_t i = 0; i < direction_.size(); ++i) direction_[i] = random.uniform(i) - 0.5;
  std::vector<double> next(direction_.size());
  for (int step = 0; step <= power_steps; ++step) {
    if (!orthonormalise(direction_, dimension_)) return direction_.clear();
    if (step == power_steps) break;
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t p = 0; p < panels; ++p)
      for (std::size_t a = 0; a < most_axes; ++a) {
        const double *from = centre_.data() + p * dimension_, *v = direction_.data() + a * dimension_;
        double along = 0;
        for (std::size_t c = 0; c < dimension_; ++c) along += from[c] * v[c];
        for (std::size_t c = 0; c < dimension_; ++c) next[a * dimension_ + c] += along * from[c];
      }
    direction_ = next;
  }
  axes_ = most_axes;
}

void PanelBounds::measure(std::size_t panel) {
  const std::size_t filled = first_row_[panel + 1] - first_row_[panel];
  double square[panel_rows] = {}, along[most_axes][panel_rows] = {};
  for (std::size_t c = 0; c < dimension_; ++c)
    for (std::size_t r = 0; r < filled; ++r) {
      const double offset = offset_[(panel * dimension_ + c) * panel_rows + r];
      square[r] += offset * offset;
      if (direction_.empty()) {
        if (axes_ > 0) along[c][r] = coordinate(panel, c, r);
      } else
        for (std::size_t a = 0; a < axes_; ++a) along[a][r] += direction_[a * dimension_ + c] * coordinate(panel, c, r);
    }
  radius_[panel] = std::sqrt(*std::max_element(square, square + filled));
  for (std::size_t a = 0; a < axes_; ++a) {
    const auto [least, most] = std::minmax_element(along[a], along[a] + filled);
    low_[panel * axes_ + a] = *least;
    high_[panel * axes_ + a] = *most;
  }
}

void PanelBounds::prepare(Team& team, const PanelBounds* others) {
  const PanelBounds* const axes_of = others == nullptr ? this : others;
  if (axes_of_ == axes_of) return;
  const std::size_t panels = first_row_.size() - 1;
  if (axes_of == this) choose_axes();
  else axes_ = others->axes_, direction_ = others->direction_;
  radius_.resize(panels);
  low_.resize(panels * axes_);
  high_.resize(panels * axes_);
  team.run(panels, [&](std::size_t p, int) { measure(p); });
  // sums of so many products of numbers up to the largest norm
  slack_ = 4 * std::numeric_limits<double>::epsilon() * (static_cast<double>(dimension_) + 8) * largest_norm_;
  axes_of_ = axes_of;
}

bool PanelBounds::boxes_apart(const double* low_a, const double* high_a, const double* low_b, const double* high_b,
                              double distance) const {
  double square = 0;
  for (std::size_t a = 0; a < axes_; ++a) {
    const double gap = std::max({0.0, low_b[a] - high_a[a], low_a[a] - high_b[a]});
    square += gap * gap;
  }
  const double reach = (distance + slack_) * (1 + 1e-9);
  return square > reach * reach;
}

bool PanelBounds::apart(std::size_t p, const PanelBounds& others, std::size_t q, double distance) const {
  if (boxes_apart(low_.data() + p * axes_, high_.data() + p * axes_, others.low_.data() + q * axes_,
                  others.high_.data() + q * axes_, distance))
    return true;
  const double *a = centre_.data() + p * dimension_, *b = others.centre_.data() + q * dimension_;
  double square = 0;
  for (std::size_t c = 0; c < dimension_; ++c) square += (a[c] - b[c]) * (a[c] - b[c]);
  const double reach = (distance + radius_[p] + others.radius_[q] + slack_) * (1 + 1e-9);
  return square > reach * reach;
}

PanelBounds::Box PanelBounds::around(std::size_t first, std::size_t last) const {
  const auto at = [&](const std::vector<double>& all, std::size_t p) {
    return all.begin() + static_cast<std::ptrdiff_t>(p * axes_);
  };
  Box box{{at(low_, first), at(low_, first + 1)}, {at(high_, first), at(high_, first + 1)}};
  for (std::size_t p = first + 1; p < last; ++p)
    for (std::size_t a = 0; a < axes_; ++a) {
      box.low[a] = std::min(box.low[a], low_[p * axes_ + a]);
      box.high[a] = std::max(box.high[a], high_[p * axes_ + a]);
    }
  return box;
}

bool PanelBounds::apart(const Box& a, const Box& b, double distance) const {
  return boxes_apart(a.low.data(), a.high.data(), b.low.data(), b.high.data(), distance);
}

}  // namespace fd::cpu
