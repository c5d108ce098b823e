#include "backends/cpu/lost_digits.hpp"

#include <cmath>
#include <numbers>
#include <type_traits>

#include "backends/cpu/tile_pass.hpp"

namespace fd::cpu {
namespace {

// What a coordinate loses at most when it becomes a sum of two numbers, relative to itself: of 53 and 24 bits, or of 24 each and a sign.
template <class T>
constexpr double lost = std::is_same_v<T, double> ? 0x1p-77 : 0x1p-49;

constexpr double near = 12;  // |t|^2 of neighbours: entries of 2^-6 and more

}  // namespace

// K = 2^-(m |t|^2 / 2) for t = a_i - a_j, where a coordinate difference that is off by e changes it by the factor 2^-(m t.e).
template <class T>
std::optional<LostPair> lost_digits(const PackedPoints<T>& points, const double* offset, const float* offset_low,
                                    double row_error) {
  if (!points.local) return {};
  const double multiple = points.multiple;
  const double allowed = row_error / (std::numbers::ln2 * multiple);
  for (std::size_t p = 0; p < points.panels; ++p) {
    if (!(2 * lost<T> * static_cast<double>(points.radius[p]) * std::sqrt(near / multiple) > allowed)) continue;
    const std::size_t first = p * points.dimension * panel_rows, rows = points.first_row[p + 1] - points.first_row[p];
    for (std::size_t i = 1; i < rows; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double square = 0, off = 0;
        for (std::size_t c = 0; c < points.dimension && square * multiple < near; ++c) {
          const std::size_t a = first + c * panel_rows + i, b = first + c * panel_rows + j;
          double difference = offset[a] - offset[b], error;
          if constexpr (std::is_same_v<T, double>) {
            difference = points.scale * (difference + (static_cast<double>(offset_low[a]) - static_cast<double>(offset_low[b])));
            error = difference == 0 ? 0 : lost<T> * points.scale * (std::abs(offset[a]) + std::abs(offset[b]));
            off += std::abs(difference) * error;
          } else {
            difference *= points.scale;
            const auto packed = [&](std::size_t at) {
              return static_cast<double>(points.x[at]) + static_cast<double>(points.low[at]);
            };
            error = packed(a) - packed(b) - difference;
            off += difference * error;
          }
          square += difference * difference;
        }
        if (square * multiple < near && !(std::abs(off) <= allowed)) return LostPair{p, i, j};
      }
  }
  return {};
}

template std::optional<LostPair> lost_digits(const PackedPoints<float>&, const double*, const float*, double);
template std::optional<LostPair> lost_digits(const PackedPoints<double>&, const double*, const float*, double);

}  // namespace fd::cpu
