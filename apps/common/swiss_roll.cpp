#include "common/swiss_roll.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "common/interrupt.hpp"
#include "common/numpy_random.hpp"

namespace fd::cli {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double first_turn = 1.5 * pi, last_turn = 4.5 * pi, height = 21;
constexpr std::size_t chunk = std::size_t{1} << 15;

}  // namespace

SwissRoll::SwissRoll(std::size_t rows, std::uint32_t seed, int threads) : rows_(rows), seed_(seed) {
  const std::size_t chunks = (rows + chunk - 1) / chunk;
  Team team(threads);
  std::vector<std::array<double, 3>> sums(chunks);
  // Twice over the rows: means, then squares about them, as numpy's std does. Sums of chunks are added in their order.
  const auto over_all = [&](auto&& value) {
    team.run(
        chunks,
        [&](std::size_t c, int) {
          std::vector<double> points(3 * chunk);
          const std::size_t count = std::min(chunk, rows_ - c * chunk);
          make(c * chunk, count, points.data(), nullptr);
          sums[c] = {};
          for (std::size_t i = 0; i < 3 * count; ++i) sums[c][i % 3] += value(points[i]);
        },
        throw_if_interrupted);
    std::array<double, 3> total{};
    for (const auto& part : sums)
      for (std::size_t a = 0; a < 3; ++a) total[a] += part[a] / static_cast<double>(rows_);
    return total;
  };
  const auto mean = over_all([](double x) { return x; });
  std::copy(mean.begin(), mean.end(), mean_);
  const auto variance = over_all([](double x) { return x * x; });
  for (std::size_t a = 0; a < 3; ++a) deviation_[a] = std::sqrt(variance[a]);
}

void SwissRoll::make(std::size_t first, std::size_t count, double* out, double* turns) const {
  NumpyRandom along(seed_), across(seed_);
  along.skip(first);
  across.skip(rows_ + first);
  for (std::size_t i = 0; i < count; ++i) {
    const double t = first_turn * (1 + 2 * along.next()), h = height * across.next();
    out[3 * i] = (t * std::cos(t) - mean_[0]) / deviation_[0];
    out[3 * i + 1] = (h - mean_[1]) / deviation_[1];
    out[3 * i + 2] = (t * std::sin(t) - mean_[2]) / deviation_[2];
    if (turns != nullptr) turns[i] = t;
  }
}

// With the scaled curve's speed s(t) the surface element is s dt dh / sd(h), the density q = 1 / (T H s) over it, T the range of t and H that
// of h: V = H integral of s, E[q] = integral of q^2 s dt dh = integral of 1/s dt / (T^2 H).
RollGeometry roll_geometry() {
  constexpr std::size_t steps = 200000;
  const double range = last_turn - first_turn, step = range / steps;
  const auto integral = [&](auto&& f) {  // midpoints
    double sum = 0;
    for (std::size_t i = 0; i < steps; ++i) sum += f(first_turn + (static_cast<double>(i) + 0.5) * step) * step;
    return sum;
  };
  const auto deviation = [&](auto&& f) {
    const double mean = integral(f) / range;
    return std::sqrt(integral([&](double t) { return (f(t) - mean) * (f(t) - mean); }) / range);
  };
  const double sx = deviation([](double t) { return t * std::cos(t); }), sz = deviation([](double t) { return t * std::sin(t); });
  const auto speed = [&](double t) {
    return std::hypot((std::cos(t) - t * std::sin(t)) / sx, (std::sin(t) + t * std::cos(t)) / sz);
  };
  const double scaled_height = std::sqrt(12.0);
  return {scaled_height * integral(speed), integral([&](double t) { return 1 / speed(t); }) / (range * range * scaled_height)};
}

}  // namespace fd::cli
