// Points packed in few bits, for promises that fp32 keeps a thousandfold (accuracy.hpp).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backends/cpu/amx.hpp"
#include "backends/cpu/packed_points.hpp"
#include "base/random.hpp"
#include "kernel/gaussian.hpp"

namespace fd::cpu {
namespace {

// u_c in units of h: a function of c alone, so that it is common to all points of a product.
std::vector<double> common_shifts(std::size_t dimension) {
  const Random random(0x6469746865720000, 0);
  std::vector<double> shifts(dimension);
  for (std::size_t c = 0; c < dimension; ++c) shifts[c] = random.uniform(c) - 0.5;
  return shifts;
}

// Two whole numbers in the bits of a float, a pair of coordinates of one place: x_i.x_j 2^f is then a sum of whole numbers.
template <class T, class Coordinate>
void pack_fixed(const std::vector<double>& shifts, int fraction_bits, std::size_t filled, const Coordinate& coordinate, T* x,
                double* factor) {
  const std::size_t dimension = shifts.size();
  const double unit = std::exp2(0.5 * fraction_bits);
  constexpr double magic = Exp2<double>::magic;  // adding it rounds to a whole number and leaves that in the low bits
  std::int32_t whole[2][panel_rows] = {}, square[panel_rows] = {};
  for (std::size_t word = 0; word < (dimension + 1) / 2; ++word, x += panel_rows) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t c = 2 * word + side;
      if (c == dimension) std::fill_n(whole[side], panel_rows, 0);
      else
        for (std::size_t r = 0; r < filled; ++r)
          whole[side][r] = static_cast<std::int32_t>(std::bit_cast<std::int64_t>(unit * coordinate(c, r) + shifts[c] + magic));
    }
    for (std::size_t r = 0; r < panel_rows; ++r) {
      square[r] += whole[0][r] * whole[0][r] + whole[1][r] * whole[1][r];
      const std::int32_t both = (whole[0][r] & 0xffff) | whole[1][r] * 65536;
      std::memcpy(x + r, &both, sizeof both);
    }
  }
  for (std::size_t r = 0; r < panel_rows; ++r) factor[r] = std::exp2(-0.5 * square[r] / (unit * unit));
}

// The nearest 16-bit float.
struct Brain {
  std::uint16_t bits;
  float value;
  explicit Brain(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    bits = static_cast<std::uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16);
    value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

// A panel as columns of a tile, then as rows of one (amx.hpp).
template <class T, class Coordinate>
void pack_split(std::size_t dimension, std::size_t filled, const Coordinate& coordinate, T* x, double* factor) {
  using amx::chunk, amx::side;
  const std::size_t chunks = amx::chunks(dimension), size = panel_rows * chunks * chunk;
  auto* const bytes = reinterpret_cast<std::byte*>(x);
  std::memset(bytes, 0, 2 * size * sizeof(std::uint16_t));
  const auto put = [&](std::size_t r, std::size_t k, Brain column, Brain row) {
    const std::size_t block = (r / side * chunks + k / chunk) * side * chunk, place = r % side, within = k % chunk;
    const std::size_t at = block + place * chunk + within, across = block + (within / 2 * side + place) * 2 + within % 2;
    std::memcpy(bytes + at * sizeof column.bits, &column.bits, sizeof column.bits);
    std::memcpy(bytes + (size + across) * sizeof row.bits, &row.bits, sizeof row.bits);
  };
  double square[panel_rows] = {};
  for (std::size_t c = 0; c < dimension; ++c)
    for (std::size_t r = 0; r < filled; ++r) {
      const float value = static_cast<float>(coordinate(c, r));
      const Brain high(value), low(value - high.value);
      put(r, c, high, high);
      put(r, dimension + c, high, low);
      put(r, 2 * dimension + c, low, high);
      const double kept = static_cast<double>(high.value) + static_cast<double>(low.value);
      square[r] += kept * kept;
    }
  for (std::size_t r = 0; r < panel_rows; ++r) factor[r] = std::exp2(-0.5 * square[r]);
}

}  // namespace

template <class T>
const PackedPoints<T>& CpuPoints<T>::packed(double beta, Coding coding, Team& team) const {
  PackedPoints<T>& to = low_precision_;
  if (low_precision_beta_ == beta && to.coding == coding) return to;
  to.rows = rows();
  to.of_rows = layout_->rows();
  to.first_panel = first_panel_, to.of_panels = of_panels_;
  to.panels = panels_;
  to.coding = coding;
  to.dimension = coding.numbers == Numbers::split ? amx::chunks(dimension_) * amx::chunk : (dimension_ + 1) / 2;
  to.first_row = first_row_.data();
  to.x.at_least(panels_ * to.dimension * panel_rows);
  to.factor.at_least(panels_ * panel_rows);
  to.bounds = bounds_.get();
  const double scale = to.scale = Gaussian::point_scale(beta);
  const std::vector<double> shifts = common_shifts(coding.numbers == Numbers::fixed ? dimension_ : 0);
  team.run(panels_, [&](std::size_t p, int) {
    const auto coordinate = [&](std::size_t c, std::size_t r) {
      return scale * (offset_[(p * dimension_ + c) * panel_rows + r] + centre_[p * dimension_ + c]);
    };
    const std::size_t filled = first_row_[p + 1] - first_row_[p];
    T* x = to.x.data() + p * to.dimension * panel_rows;
    double* factor = to.factor.data() + p * panel_rows;
    if (coding.numbers == Numbers::split) pack_split(dimension_, filled, coordinate, x, factor);
    else pack_fixed(shifts, coding.fraction_bits, filled, coordinate, x, factor);
  });
  low_precision_beta_ = beta;
  return to;
}

template const PackedPoints<float>& CpuPoints<float>::packed(double, Coding, Team&) const;
template const PackedPoints<double>& CpuPoints<double>::packed(double, Coding, Team&) const;

}  // namespace fd::cpu
