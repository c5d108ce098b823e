// The entries of one 48 × 48 tile of the kernel, in the form that keeps the promise (accuracy.hpp) for the two panels it is made of.

#if defined(FD_TILE_ENTRIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FD_TILE_ENTRIES_INL
#undef FD_TILE_ENTRIES_INL
#else
#define FD_TILE_ENTRIES_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/amx.hpp"
#include "backends/cpu/exact_sum.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
// A column panel as a tile reads it: coordinate c of place j is x[j * step + c * stride] within a group of Shape::columns places. As it
// lies in memory step is 1 and stride 48; in groups packed one after another (`pack_groups`) they are the dimension and Shape::columns.
template <class T>
struct ColumnPanel {
  const T* x;
  const T* half;  // [48]; read in the expanded form only
  const T* low;   // as x; read in the exact form only
  std::size_t step;
  bool packed;
};

// [dimension][48] to [group][dimension][Shape::columns]: a group is then read from its first byte to its last, and a tile's traffic to
// the first-level cache is what it uses and no more. Worth a copy where a panel of rows and one of columns do not fit there. Half of the
// places at a time: more groups than a cache has ways could be written to one set of it.
template <class T>
void pack_groups(const T* panel, std::size_t dimension, T* groups) {
  constexpr std::size_t some = panel_rows / 2;
  static_assert(some % Shape::columns == 0);
  for (std::size_t first = 0; first < panel_rows; first += some)
    for (std::size_t c = 0; c < dimension; ++c)
      for (std::size_t j = first; j < first + some; j += Shape::columns)
        std::memcpy(groups + j * dimension + c * Shape::columns, panel + c * panel_rows + j, Shape::columns * sizeof(T));
}

// How a tile keeps the promise (accuracy.hpp). In `factored`, `fixed` and `split` a_i and a_j are left to weights and sums.
enum class Form { factored, fixed, split, expanded, difference, exact };

// t + x_0 y_0 + x_1 y_1 for pairs of 16-bit numbers in the bits of floats.
template <class V, class I>
HWY_INLINE I multiply_add_pairs(V x, V y, I t) {
  const hn::Repartition<std::int16_t, hn::DFromV<V>> shorts;
#if HWY_TARGET == HWY_AVX3_DL  // Debian 12's Highway does not use, or let compilers use, its instruction for this
  __asm__("vpdpwssd %2, %1, %0" : "+v"(t.raw) : "v"(hn::BitCast(shorts, x).raw), "v"(hn::BitCast(shorts, y).raw));
  return t;
#else
  I unused = t;
  return hn::ReorderWidenMulAccumulate(hn::DFromV<I>(), hn::BitCast(shorts, x), hn::BitCast(shorts, y), t, unused);
#endif
}

// A register tile's exponents. Forms that multiply and add in two instructions need a register in between, the exact one some more.
template <Form kForm>
constexpr int rows_of = kForm == Form::factored ? Shape::rows
                        : kForm == Form::exact  ? 1
                                                : Shape::rows_apart;
template <Form kForm, class T>
using ExponentTag = std::conditional_t<kForm == Form::fixed, hn::RebindToSigned<Tag<T>>, Tag<T>>;
template <Form kForm, class T>
using RegisterTile = hn::Vec<ExponentTag<kForm, T>>[rows_of<kForm>][Shape::columns];

// A finished exponent, or its part of some coordinates added to that of others.
template <Form kForm, bool kAdd, class V, class T>
HWY_INLINE void store_exponent(V t, T* HWY_RESTRICT to) {
  const Tag<T> d;
  if constexpr (kForm == Form::difference || kForm == Form::exact) t = hn::Mul(t, hn::Set(d, static_cast<T>(-0.5)));
  if constexpr (kAdd) t = hn::Add(t, hn::BitCast(hn::DFromV<V>(), hn::Load(d, to)));
  hn::Store(hn::BitCast(d, t), d, to);
}

// One more coordinate: the first one multiplies where there is nothing to add to; the last one, with kStore, stores what is finished.
template <Form kForm, bool kFirst, bool kStore, bool kAdd, class T>
HWY_INLINE void add_coordinate(const T* HWY_RESTRICT xi, const T* HWY_RESTRICT xj, const T* HWY_RESTRICT li,
                               const T* HWY_RESTRICT lj, RegisterTile<kForm, T>& t, T* HWY_RESTRICT to) {
  constexpr bool kNothing = kFirst && kForm != Form::expanded;
  constexpr int kRows = rows_of<kForm>;
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  V x[kRows];
  FD_UNROLL for (int v = 0; v < kRows; ++v) x[v] = hn::Load(d, xi + v * lanes);
  FD_UNROLL for (int r = 0; r < Shape::columns; ++r) {
    const V b = hn::Set(d, xj[r]);
    FD_UNROLL for (int v = 0; v < kRows; ++v) {
      V one = x[v], other = b;
      if constexpr (kForm == Form::difference || kForm == Form::exact) {
        one = hn::Sub(one, other);
        if constexpr (kForm == Form::exact) one = hn::Add(one, hn::Sub(hn::Load(d, li + v * lanes), hn::Set(d, lj[r])));
        other = one;
      }
      if constexpr (kForm == Form::fixed)
        t[v][r] = multiply_add_pairs(one, other, kNothing ? hn::Zero(ExponentTag<kForm, T>()) : t[v][r]);
      else t[v][r] = kNothing ? hn::Mul(one, other) : hn::MulAdd(one, other, t[v][r]);
      if constexpr (kStore) store_exponent<kForm, kAdd>(t[v][r], to + r * panel_rows + v * lanes);
    }
  }
}

// Exponents of a tile, a register tile at a time: tile[j][i] = x_i.x_j, x_i.x_j + a_i + a_j or -|x_i - x_j|^2/2.
//
// Where twelve accumulators are set at a tile's head and stored in a row at its end, the next tile stalls (Zen 3, D = 12: 7.5 cycles a
// vector; 6.2 when the first coordinate sets and the last one stores them; 6 is the limit). Eight do not.
template <Form kForm, bool kPacked, bool kAdd, class T>
HWY_NOINLINE void exponents(const T* HWY_RESTRICT row_panel, const T* HWY_RESTRICT row_half, const T* HWY_RESTRICT row_low,
                            ColumnPanel<T> columns, std::size_t dimension, T* HWY_RESTRICT tile) {
  const Tag<T> d;
  constexpr int kRows = rows_of<kForm>;
  constexpr bool kLastStores = kForm == Form::factored;
  constexpr std::size_t lanes = lanes_of<T>(), stride = kPacked ? Shape::columns : panel_rows;
  for (std::size_t i = 0; i < panel_rows; i += kRows * lanes)
    for (std::size_t j = 0; j < panel_rows; j += Shape::columns) {
      RegisterTile<kForm, T> t;
      if constexpr (kForm == Form::expanded)
        FD_UNROLL for (int v = 0; v < kRows; ++v) FD_UNROLL for (int r = 0; r < Shape::columns; ++r) t[v][r] =
            hn::Add(hn::Load(d, row_half + i + v * lanes), hn::Set(d, columns.half[j + r]));
      const T *xi = row_panel + i, *xj = columns.x + j * columns.step, *li = row_low + i, *lj = columns.low + j * columns.step;
      T* to = tile + j * panel_rows + i;
      const auto next = [&] { xi += panel_rows, xj += stride, li += panel_rows, lj += stride; };
      if (kLastStores && !kAdd && dimension == 1) {  // there is nothing to add a single coordinate to
        add_coordinate<kForm, true, true, kAdd>(xi, xj, li, lj, t, to);
        continue;
      }
      add_coordinate<kForm, true, false, kAdd>(xi, xj, li, lj, t, to);
      next();
      FD_TWICE for (std::size_t left = dimension - (kLastStores ? 2 : 1); left > 0; --left, next())
          add_coordinate<kForm, false, false, kAdd>(xi, xj, li, lj, t, to);
      if constexpr (kLastStores) {
        add_coordinate<kForm, false, true, kAdd>(xi, xj, li, lj, t, to);
      } else {
        FD_UNROLL for (int r = 0; r < Shape::columns; ++r) FD_UNROLL for (int v = 0; v < kRows; ++v)
            store_exponent<kForm, kAdd>(t[v][r], to + r * panel_rows + v * lanes);
      }
    }
}

// The same in the factored form for any number of coordinates, at most `coordinates_at_once` of them at a time: what a tile reads of its
// column panel for the first rows is then in first-level cache for the others.
constexpr std::size_t coordinates_at_once = 160;

template <bool kPacked, class T>
void factored_exponents(const T* row_panel, ColumnPanel<T> columns, std::size_t dimension, T* tile) {
  const std::size_t pieces = (dimension + coordinates_at_once - 1) / coordinates_at_once;
  for (std::size_t piece = 0, first = 0; piece < pieces; ++piece) {
    const std::size_t count = dimension * (piece + 1) / pieces - first;
    auto fill = piece == 0 ? exponents<Form::factored, kPacked, false, T> : exponents<Form::factored, kPacked, true, T>;
    fill(row_panel, row_panel, row_panel, columns, count, tile);
    first += count;
    row_panel += count * panel_rows;
    columns.x += count * (kPacked ? Shape::columns : panel_rows);
  }
}

// -|x_i - x_j|^2/2 in pieces of few coordinates: squares are positive, and where many are equal (tables of +1 and -1) the roundings of one long sum
// have one sign too and are off by as many of them as there are terms.
template <Form kForm, class T>
void squared_differences(const T* row_panel, const T* row_low, ColumnPanel<T> columns, std::size_t dimension, T* tile) {
  constexpr std::size_t few = 32;
  for (std::size_t first = 0; first < dimension; first += few) {
    auto fill = first == 0 ? exponents<kForm, false, false, T> : exponents<kForm, false, true, T>;
    fill(row_panel, row_panel, row_low, columns, std::min(few, dimension - first), tile);
    row_panel += few * panel_rows;
    row_low += few * panel_rows;
    columns.x += few * panel_rows;
    columns.low += few * panel_rows;
  }
}

// Entries of a tile from its exponents; kClamp: where these may be far below what a power of two can have.
template <bool kClamp, class T>
HWY_NOINLINE void exp2_tile(const T* exponents, T multiple, T* tile) {
  exp2_vectors<kClamp>(exponents, multiple, tile, tile_entries);
}
template <class T>
HWY_NOINLINE void exp2_tile_fixed(T* tile, int fraction_bits) {
  exp2_fixed(tile, tile_entries, fraction_bits - Exp2<float>::mantissa_bits);
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

// Whether no entry of a tile counts, from balls around its two panels: no pair is closer than `apart`.
template <class T>
bool negligible(const Pass<T>& pass, std::size_t p, std::size_t q) {
  const PackedPoints<T>&x = *pass.x, &z = *pass.z;
  if (x.coding.numbers != Numbers::floats) return false;
  const T squared = squared_distance(x.centre.data() + p * x.dimension, z.centre.data() + q * x.dimension, x.dimension);
  const T apart =
      std::sqrt(squared) * static_cast<T>(1 - 1e-4) - (x.radius[p] + z.radius[q]) - (x.centre_error[p] + z.centre_error[q]);
  return apart > 0 && apart * apart * static_cast<T>(-0.5 * x.multiple) < static_cast<T>(pass.least_exponent);
}

// Decides how a tile keeps the promise, and moves the column panel to the row panel's centre where that is needed.
template <class T>
Form prepare(const Pass<T>& pass, std::size_t p, std::size_t q, const T* packed_columns, Scratch<T>& scratch,
             ColumnPanel<T>& columns) {
  const PackedPoints<T>&x = *pass.x, &z = *pass.z;
  const std::size_t dimension = x.dimension;
  const bool packed = packed_columns != nullptr;
  if (!x.local) {
    const T* panel = packed ? packed_columns : z.panel(q);
    columns = {panel, panel, panel, packed ? dimension : 1, packed};
    return x.coding.numbers == Numbers::fixed ? Form::fixed : x.coding.numbers == Numbers::split ? Form::split : Form::factored;
  }
  columns = {z.panel(q), z.half.data() + q * panel_rows, z.low_panel(q), 1, false};

  // entries that matter lie within sqrt(2 relevant) of a row, so within radius + that of the centre
  const double radius = static_cast<double>(x.radius[p]), reach = radius + std::sqrt(2 * Accuracy<T>::relevant);
  const Form form = 0.5 * (radius * radius + reach * reach) <= x.cancellation ? Form::expanded
                    : radius <= Accuracy<T>::radius                           ? Form::difference
                                                                              : Form::exact;
  if (pass.diagonal(p, q)) return form;

  // Where the columns are as wide, those that come close to the rows are not, seen from these: they are moved before they are rounded.
  const bool exactly = form == Form::exact || static_cast<double>(z.radius[q]) > Accuracy<T>::radius;
  const double* exact_from = x.exact_centre + p * dimension;
  const double* exact_to = z.exact_centre + q * dimension;
  T* moved = scratch.moved.data();
  T* low = moved + dimension * panel_rows;
  T* half = low + dimension * panel_rows;
  T sum[panel_rows] = {};
  for (std::size_t c = 0; c < dimension; ++c) {
    const T* at = columns.x + c * panel_rows;
    const T* at_low = columns.low + c * panel_rows;
    T* to_high = moved + c * panel_rows;
    T* to_low = low + c * panel_rows;
    if (exactly) {
      const ExactSum shift = exact_multiple(x.scale, exact_sum(exact_to[c], -exact_from[c]));
      for (std::size_t r = 0; r < panel_rows; ++r) {
        const ExactSum value = exact_sum(static_cast<double>(at[r]), shift.high);
        const double rest = value.low + static_cast<double>(at_low[r]) + shift.low;
        to_high[r] = static_cast<T>(value.high + rest);
        to_low[r] = static_cast<T>(value.high - static_cast<double>(to_high[r]) + rest);
      }
    } else {
      const T shift = static_cast<T>(x.scale * (exact_to[c] - exact_from[c]));
      for (std::size_t r = 0; r < panel_rows; ++r) to_high[r] = at[r] + shift;
    }
    for (std::size_t r = 0; r < panel_rows; ++r) sum[r] += to_high[r] * to_high[r];
  }
  for (std::size_t r = 0; r < panel_rows; ++r) half[r] = static_cast<T>(-0.5) * sum[r];
  columns = {moved, half, low, 1, false};
  return form;
}

// tile[j][i]: the exponents, at the bandwidth that points are scaled for.
template <class T>
void fill_exponents(const Pass<T>& pass, std::size_t p, Form form, ColumnPanel<T> columns, T* tile) {
  const PackedPoints<T>& x = *pass.x;
  if (form == Form::factored) {
    auto fill = columns.packed ? factored_exponents<true, T> : factored_exponents<false, T>;
    fill(x.panel(p), columns, x.dimension, tile);
  } else if (form == Form::fixed) {
    if constexpr (has_fixed_point<T>) {
      auto fill = columns.packed ? exponents<Form::fixed, true, false, T> : exponents<Form::fixed, false, false, T>;
      fill(x.panel(p), x.panel(p), x.panel(p), columns, x.dimension, tile);
    }
  } else if (form == Form::split) {
    if constexpr (has_fixed_point<T>) {
      amx::exponents(columns.x, x.panel(p) + x.dimension / 2 * panel_rows, x.dimension / amx::chunk, tile);
    }
  } else if (form == Form::expanded) {
    exponents<Form::expanded, false, false, T>(x.panel(p), x.half.data() + p * panel_rows, x.low_panel(p), columns, x.dimension,
                                               tile);
  } else {
    auto fill = form == Form::exact ? squared_differences<Form::exact, T> : squared_differences<Form::difference, T>;
    fill(x.panel(p), x.low_panel(p), columns, x.dimension, tile);
  }
}

// tile[j][i]: the entries; a diagonal tile of one set of points gets zeros on its diagonal.
template <class T>
void fill_entries(const Pass<T>& pass, std::size_t p, std::size_t q, const T* exponents, T* tile) {
  const PackedPoints<T>& x = *pass.x;
  if (x.coding.numbers == Numbers::fixed) {
    if constexpr (has_fixed_point<T>) exp2_tile_fixed(tile, x.coding.fraction_bits);
  } else {
    auto exp2 = x.local ? exp2_tile<true, T> : exp2_tile<false, T>;
    exp2(exponents, static_cast<T>(x.multiple), tile);
  }
  if (pass.diagonal(p, q))
    for (std::size_t r = 0; r < panel_rows; ++r) tile[r * panel_rows + r] = 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#endif
