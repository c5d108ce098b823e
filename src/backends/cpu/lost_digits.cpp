#include "backends/cpu/lost_digits.hpp"

#include <cmath>
#include <numbers>
#include <type_traits>

#include "backends/cpu/tile_pass.hpp"

namespace fd::cpu {
namespace {

constexpr double near = 12;  // |t|^2 of neighbours: entries of 2^-6 and more

// K = 2^-(m |t|^2 / 2) for t = a_i - a_j, where a coordinate difference that is off by e changes it by the factor 2^-(m (t.e + |e|^2 / 2)).
template <class T>
class Search {
 public:
  Search(const PackedPoints<T>& points, const double* offset, const float* offset_low, double row_error)
      : points_(points),
        offset_(offset),
        offset_low_(offset_low),
        reach_(near / points.multiple),
        allowed_(row_error / (std::numbers::ln2 * points.multiple)) {}

  std::optional<LostPair> run() const {
    for (std::size_t p = 0; p < points_.panels; ++p) {
      if (!suspect(p)) continue;
      for (std::size_t q = 0; q < points_.panels; ++q) {
        if (q < p && suspect(q)) continue;  // it was seen from there
        if (p != q && apart(p, q)) continue;
        for (std::size_t i = 0; i < rows(p); ++i)
          for (std::size_t j = 0; j < (p == q ? i : rows(q)); ++j)
            if (lost(p, i, q, j)) return LostPair{q * panel_rows + j, p * panel_rows + i};
      }
    }
    return {};
  }

 private:
  static constexpr bool wide = std::is_same_v<T, double>;
  // What a coordinate loses at most as a sum of two numbers, relative to itself: of 53 and 24 bits, or of 24 each and a sign.
  static constexpr double last = wide ? 0x1p-78 : 0x1p-50;

  std::size_t rows(std::size_t p) const { return points_.first_row[p + 1] - points_.first_row[p]; }
  bool suspect(std::size_t p) const {
    return !(2 * last * static_cast<double>(points_.radius[p]) * std::sqrt(reach_) <= allowed_);
  }

  double between(std::size_t p, std::size_t q, std::size_t c) const {
    return points_.exact_centre[p * points_.dimension + c] - points_.exact_centre[q * points_.dimension + c];
  }
  bool apart(std::size_t p, std::size_t q) const {
    double square = 0;
    for (std::size_t c = 0; c < points_.dimension; ++c) square += std::pow(points_.scale * between(p, q, c), 2);
    return std::sqrt(square) * (1 - 1e-6) >
           (static_cast<double>(points_.radius[p]) + static_cast<double>(points_.radius[q])) * (1 + 1e-6) + std::sqrt(reach_);
  }

  bool lost(std::size_t p, std::size_t i, std::size_t q, std::size_t j) const {
    double square = 0, off = 0;
    for (std::size_t c = 0; c < points_.dimension && square < reach_; ++c) {
      const std::size_t a = (p * points_.dimension + c) * panel_rows + i, b = (q * points_.dimension + c) * panel_rows + j;
      double difference = offset_[a] - offset_[b];
      if (p != q) difference += between(p, q, c);
      if constexpr (wide) difference += static_cast<double>(offset_low_[a]) - static_cast<double>(offset_low_[b]);
      difference *= points_.scale;
      if (!wide && p == q) {  // known, with its sign: rows that are equal here are rounded alike
        const double error = packed(a) - packed(b) - difference;
        off += difference * error + 0.5 * error * error;
      } else if (p != q || difference != 0) {
        const double error = last * points_.scale * (std::abs(offset_[a]) + std::abs(offset_[b]));
        off += std::abs(difference) * error + 0.5 * error * error;
      }
      square += difference * difference;
    }
    return square < reach_ && !(std::abs(off) <= allowed_);
  }
  double packed(std::size_t at) const { return static_cast<double>(points_.x[at]) + static_cast<double>(points_.low[at]); }

  const PackedPoints<T>& points_;
  const double* offset_;
  const float* offset_low_;
  double reach_, allowed_;  // in the units of `points`, before the bandwidth's multiple
};

}  // namespace

template <class T>
std::optional<LostPair> lost_digits(const PackedPoints<T>& points, const double* offset, const float* offset_low,
                                    double row_error) {
  if (!points.local) return {};
  return Search<T>(points, offset, offset_low, row_error).run();
}

template std::optional<LostPair> lost_digits(const PackedPoints<float>&, const double*, const float*, double);
template std::optional<LostPair> lost_digits(const PackedPoints<double>&, const double*, const float*, double);

}  // namespace fd::cpu
