// The entries of one 48 × 48 tile of the kernel, in the form that keeps the promise (accuracy.hpp) for the two panels it is made of.

#if defined(FD_TILE_ENTRIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FD_TILE_ENTRIES_INL
#undef FD_TILE_ENTRIES_INL
#else
#define FD_TILE_ENTRIES_INL
#endif

#include <algorithm>
#include <cmath>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
// A column panel as a tile reads it: coordinate c of place j is x[j * step + c * stride] within a group of Shape::columns places,
// which covers the panel as it lies in memory (step 1, stride 48) and groups packed one after another (`pack_groups`).
template <class T>
struct ColumnPanel {
  const T* x;
  const T* half;  // [48]
  const T* low;   // as x, for the exact form
  std::size_t step, stride;
};

// [dimension][48] to [group][dimension][Shape::columns]: a group is then read from its first byte to its last, and a tile's traffic to
// the first-level cache is what it uses and no more. Worth a copy where a panel of rows and one of columns do not fit there.
template <class T>
void pack_groups(const T* panel, std::size_t dimension, T* groups) {
  for (std::size_t j = 0; j < panel_rows; j += Shape::columns, groups += dimension * Shape::columns)
    for (std::size_t c = 0; c < dimension; ++c)
      for (std::size_t r = 0; r < Shape::columns; ++r) groups[c * Shape::columns + r] = panel[c * panel_rows + j + r];
}

// How a tile keeps the promise (accuracy.hpp). `bounded`: expanded, and no pair is so far apart that an entry could underflow.
enum class Form { skip, bounded, expanded, difference, exact, fixed };

// a + b and t + x_0 y_0 + x_1 y_1 for whole numbers, and pairs of 16-bit ones, in the bits of floats.
template <class V>
HWY_INLINE V add_fixed(V a, V b) {
  const hn::RebindToSigned<Tag<float>> integers;
  return hn::BitCast(Tag<float>(), hn::Add(hn::BitCast(integers, a), hn::BitCast(integers, b)));
}
template <class V>
HWY_INLINE V multiply_add_pairs(V x, V y, V t) {
  const hn::RebindToSigned<Tag<float>> integers;
  const hn::Repartition<std::int16_t, Tag<float>> shorts;
  auto unused = hn::Zero(integers);
  return hn::BitCast(Tag<float>(), hn::ReorderWidenMulAccumulate(integers, hn::BitCast(shorts, x), hn::BitCast(shorts, y),
                                                                 hn::BitCast(integers, t), unused));
}

// What an exponent begins with: a_i + a_j, or nothing.
template <Form kForm, class V>
HWY_INLINE V start(V ai, V aj) {
  if constexpr (kForm == Form::fixed) return add_fixed(ai, aj);
  else if constexpr (kForm == Form::expanded) return hn::Add(ai, aj);
  else return hn::Zero(hn::DFromV<V>());
}

// Exponents of a tile: tile[j][i] = x_i.x_j + a_i + a_j or -|x_i - x_j|^2/2, a register tile at a time.
template <Form kForm, class T>
HWY_NOINLINE void exponents(const T* HWY_RESTRICT row_panel, const T* HWY_RESTRICT row_half, const T* HWY_RESTRICT row_low,
                            ColumnPanel<T> columns, std::size_t dimension, T* HWY_RESTRICT tile) {
  constexpr bool kDifference = kForm == Form::difference || kForm == Form::exact;
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  for (std::size_t i = 0; i < panel_rows; i += Shape::rows * lanes)
    for (std::size_t j = 0; j < panel_rows; j += Shape::columns) {
      V t[Shape::rows][Shape::columns];
      FD_UNROLL for (int v = 0; v < Shape::rows; ++v) {
        const V a = hn::Load(d, row_half + i + v * lanes);
        FD_UNROLL for (int r = 0; r < Shape::columns; ++r) t[v][r] = start<kForm>(a, hn::Set(d, columns.half[j + r]));
      }
      const T* xi = row_panel + i;
      const T* xj = columns.x + j * columns.step;
      const T* li = row_low + i;
      const T* lj = columns.low + j * columns.step;
      FD_TWICE for (std::size_t c = 0; c < dimension; ++c) {
        V x[Shape::rows];
        FD_UNROLL for (int v = 0; v < Shape::rows; ++v) x[v] = hn::Load(d, xi + c * panel_rows + v * lanes);
        FD_UNROLL for (int r = 0; r < Shape::columns; ++r) {
          const V b = hn::Set(d, xj[c * columns.stride + r]);
          FD_UNROLL for (int v = 0; v < Shape::rows; ++v) {
            if constexpr (kDifference) {
              V apart = hn::Sub(x[v], b);
              if constexpr (kForm == Form::exact)
                apart =
                    hn::Add(apart, hn::Sub(hn::Load(d, li + c * panel_rows + v * lanes), hn::Set(d, lj[c * columns.stride + r])));
              t[v][r] = hn::MulAdd(apart, apart, t[v][r]);
            } else if constexpr (kForm == Form::fixed) {
              t[v][r] = multiply_add_pairs(x[v], b, t[v][r]);
            } else {
              t[v][r] = hn::MulAdd(x[v], b, t[v][r]);
            }
          }
        }
      }
      FD_UNROLL for (int r = 0; r < Shape::columns; ++r) FD_UNROLL for (int v = 0; v < Shape::rows; ++v)
          hn::Store(kDifference ? hn::Mul(t[v][r], hn::Set(d, static_cast<T>(-0.5))) : t[v][r], d,
                    tile + (j + r) * panel_rows + i + v * lanes);
    }
}

template <Form kForm, class T>
HWY_NOINLINE void exp2_tile(T* tile, [[maybe_unused]] int fraction_bits) {
  constexpr std::size_t count = panel_rows * panel_rows;
  if constexpr (kForm == Form::fixed) exp2_fixed(tile, count, fraction_bits - Exp2<float>::mantissa_bits);
  else exp2_vectors<kForm != Form::bounded>(tile, tile, count);
}

template <class T>
HWY_INLINE T squared_distance(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count) {
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  auto sum = hn::Zero(d);
  std::size_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    const auto apart = hn::Sub(hn::LoadU(d, a + c), hn::LoadU(d, b + c));
    sum = hn::MulAdd(apart, apart, sum);
  }
  T squared = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; c < count; ++c) squared += (a[c] - b[c]) * (a[c] - b[c]);
  return squared;
}

// Decides how a tile keeps the promise, and moves the column panel to the row panel's centre where that is needed.
template <class T>
Form prepare(const Pass<T>& pass, std::size_t p, std::size_t q, const T* packed_columns, Scratch<T>& scratch,
             ColumnPanel<T>& columns) {
  const PackedPoints<T>&x = *pass.x, &z = *pass.z;
  const std::size_t dimension = x.dimension;
  const bool packed = packed_columns != nullptr;
  columns = {packed ? packed_columns : z.panel(q), z.half.data() + q * panel_rows, z.low_panel(q), packed ? dimension : 1,
             packed ? Shape::columns : panel_rows};
  if (x.fraction_bits > 0) return Form::fixed;
  // nothing underflows where all points are this close: so it is in most passes, and no tile needs a look of its own
  constexpr double bounded = -1 - static_cast<double>(Exp2<T>::lowest);
  if (!x.local && 0.5 * (x.norm + z.norm) * (x.norm + z.norm) < bounded) return Form::bounded;
  const T* from = x.centre.data() + p * dimension;
  const T* to = z.centre.data() + q * dimension;
  const T squared = squared_distance(from, to, dimension);
  // balls around two panels: no pair is closer than `apart` or further than `span`
  const T between = std::sqrt(squared), radii = x.radius[p] + z.radius[q];
  const T apart = between * static_cast<T>(1 - 1e-4) - radii, span = (between + radii) * static_cast<T>(1 + 1e-4);
  if (apart > 0 && apart * apart * static_cast<T>(0.5) > -Exp2<T>::lowest) return Form::skip;
  if (!x.local) return span * span * static_cast<T>(0.5) < static_cast<T>(bounded) ? Form::bounded : Form::expanded;

  // entries that matter lie within sqrt(2 relevant) of a row, so within radius + that of the centre
  const double radius = static_cast<double>(x.radius[p]), reach = radius + std::sqrt(2 * Accuracy<T>::relevant);
  const Form form = 0.5 * (radius * radius + reach * reach) <= Accuracy<T>::cancellation ? Form::expanded
                    : radius <= Accuracy<T>::radius                                      ? Form::difference
                                                                                         : Form::exact;
  if (pass.symmetric && p == q) return form;

  const double* exact_from = x.exact_centre + p * dimension;
  const double* exact_to = z.exact_centre + q * dimension;
  T* moved = scratch.moved.data();
  T* low = moved + dimension * panel_rows;
  T* half = low + dimension * panel_rows;
  T sum[panel_rows] = {};
  for (std::size_t c = 0; c < dimension; ++c) {
    const double exact_shift = x.scale * (exact_to[c] - exact_from[c]);
    const T shift = static_cast<T>(exact_shift);
    const T* at = columns.x + c * panel_rows;
    const T* at_low = columns.low + c * panel_rows;
    for (std::size_t r = 0; r < panel_rows; ++r) {
      const T value = at[r] + shift;
      moved[c * panel_rows + r] = value;
      sum[r] += value * value;
    }
    if (form == Form::exact)
      for (std::size_t r = 0; r < panel_rows; ++r) {
        const double value = static_cast<double>(at[r]) + static_cast<double>(at_low[r]) + exact_shift;
        moved[c * panel_rows + r] = static_cast<T>(value);
        low[c * panel_rows + r] = static_cast<T>(value - static_cast<double>(moved[c * panel_rows + r]));
      }
  }
  for (std::size_t r = 0; r < panel_rows; ++r) half[r] = static_cast<T>(-0.5) * sum[r];
  columns = {moved, half, low, 1, panel_rows};
  return form;
}

// tile[j][i]: the entries; a diagonal tile of a symmetric pass gets zeros on its diagonal.
template <class T>
void fill_tile(const Pass<T>& pass, std::size_t p, std::size_t q, Form form, ColumnPanel<T> columns, T* tile) {
  const PackedPoints<T>& x = *pass.x;
  auto fill = form == Form::exact        ? exponents<Form::exact, T>
              : form == Form::difference ? exponents<Form::difference, T>
                                         : exponents<Form::expanded, T>;
  auto raise = form == Form::bounded ? exp2_tile<Form::bounded, T> : exp2_tile<Form::expanded, T>;
  if constexpr (has_fixed_point<T>)
    if (form == Form::fixed) fill = exponents<Form::fixed, T>, raise = exp2_tile<Form::fixed, T>;
  fill(x.panel(p), x.half.data() + p * panel_rows, x.low_panel(p), columns, x.dimension, tile);
  raise(tile, x.fraction_bits);
  if (pass.symmetric && p == q)
    for (std::size_t r = 0; r < panel_rows; ++r) tile[r * panel_rows + r] = 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#endif
