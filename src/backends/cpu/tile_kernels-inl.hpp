// The tile kernels, compiled once for every instruction set (Highway's foreach_target). A kernel is main loop × epilogue ×
// scheduler: the main loop makes 48 × 48 kernel entries a register tile at a time, the epilogue uses them while they are in
// registers (narrow, mass) or in first-level cache (wide), the scheduler (schedule.hpp) hands out blocks of tiles.
//
// All products of the back-end, K W, K^T W, A^T B and A S, are one register-blocked loop: `product`.

#if defined(FD_TILE_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FD_TILE_KERNELS_INL
#undef FD_TILE_KERNELS_INL
#else
#define FD_TILE_KERNELS_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include <hwy/highway.h>

#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "kernel/gaussian.hpp"

#undef FD_UNROLL
#if defined(__clang__)
#define FD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FD_UNROLL _Pragma("GCC unroll 32")
#endif

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Register tiles: `rows` vectors × `columns` entries for the kernel, `wide` vectors × `deep` rows (or 1 × 2 deep) for products.
// The accumulators, one row of vectors and one broadcast fill the registers and no more: 16 of them on SSE4 and AVX2, 32 elsewhere.
struct Shape {
#if HWY_TARGET == HWY_AVX3
  static constexpr int rows = 3, columns = 8, wide = 2, deep = 12, narrow_most = 8;
#elif HWY_TARGET == HWY_AVX2
  static constexpr int rows = 2, columns = 6, wide = 2, deep = 6, narrow_most = 4;
#elif HWY_TARGET == HWY_SSE4
  static constexpr int rows = 3, columns = 4, wide = 2, deep = 6, narrow_most = 4;
#elif HWY_TARGET == HWY_NEON
  static constexpr int rows = 4, columns = 6, wide = 2, deep = 12, narrow_most = 4;
#else
  static constexpr int rows = 1, columns = 4, wide = 1, deep = 4, narrow_most = 1;
#endif
};

// 2^t in place, for t <= 0 or slightly above; kClamp: however far below. Stage by stage over several vectors: the operations of a stage do not wait for one
// another, so the latency of Horner's rule is hidden and not left to a scheduler that cannot look that far ahead.
template <bool kClamp, int kCount, class D, class V = hn::Vec<D>>
HWY_INLINE void exp2(D d, V (&t)[kCount]) {
  using T = hn::TFromD<D>;
  using E = Exp2<T>;
  const hn::RebindToSigned<D> integers;
  const V magic = hn::Set(d, E::magic);
  V shifted[kCount], p[kCount];
  if constexpr (kClamp) {
    FD_UNROLL for (int i = 0; i < kCount; ++i) t[i] = hn::Max(t[i], hn::Set(d, E::lowest));
  }
  FD_UNROLL for (int i = 0; i < kCount; ++i) shifted[i] = hn::Add(t[i], magic);
  FD_UNROLL for (int i = 0; i < kCount; ++i) t[i] = hn::Sub(t[i], hn::Sub(shifted[i], magic));
  FD_UNROLL for (int i = 0; i < kCount; ++i) p[i] =
      hn::MulAdd(hn::Set(d, E::coefficient[E::degree]), t[i], hn::Set(d, E::coefficient[E::degree - 1]));
  FD_UNROLL for (int k = E::degree - 2; k >= 0; --k) FD_UNROLL for (int i = 0; i < kCount; ++i) p[i] =
      hn::MulAdd(p[i], t[i], hn::Set(d, E::coefficient[k]));
  FD_UNROLL for (int i = 0; i < kCount; ++i) t[i] =
      hn::BitCast(d, hn::Add(hn::BitCast(integers, p[i]), hn::ShiftLeft<E::mantissa_bits>(hn::BitCast(integers, shifted[i]))));
}

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
constexpr std::size_t lanes_of() {
  return hn::MaxLanes(Tag<T>());
}

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
enum class Form { skip, bounded, expanded, difference, exact };

// Kernel entries of one register tile: e[v][r] = 2^(x_i.x_j + a_i + a_j) or 2^(-|x_i - x_j|^2/2); li and lj are the low parts of x_i, x_j.
template <Form kForm, class T, class V>
HWY_INLINE void entries(const T* HWY_RESTRICT xi, const T* HWY_RESTRICT ai, const T* HWY_RESTRICT xj, const T* HWY_RESTRICT aj,
                        const T* HWY_RESTRICT li, const T* HWY_RESTRICT lj, std::size_t dimension, std::size_t stride,
                        V (&e)[Shape::rows][Shape::columns]) {
  constexpr bool kDifference = kForm == Form::difference || kForm == Form::exact;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  FD_UNROLL for (int v = 0; v < Shape::rows; ++v) {
    const V a = hn::Load(d, ai + v * lanes);
    FD_UNROLL for (int r = 0; r < Shape::columns; ++r) e[v][r] = kDifference ? hn::Zero(d) : hn::Add(a, hn::Set(d, aj[r]));
  }
  for (std::size_t c = 0; c < dimension; ++c, xi += panel_rows, xj += stride) {
    V x[Shape::rows];
    FD_UNROLL for (int v = 0; v < Shape::rows; ++v) x[v] = hn::Load(d, xi + v * lanes);
    FD_UNROLL for (int r = 0; r < Shape::columns; ++r) {
      const V b = hn::Set(d, xj[r]);
      FD_UNROLL for (int v = 0; v < Shape::rows; ++v) {
        if constexpr (kDifference) {
          V apart = hn::Sub(x[v], b);
          if constexpr (kForm == Form::exact)
            apart = hn::Add(apart, hn::Sub(hn::Load(d, li + c * panel_rows + v * lanes), hn::Set(d, lj[c * stride + r])));
          e[v][r] = hn::MulAdd(apart, apart, e[v][r]);
        } else {
          e[v][r] = hn::MulAdd(x[v], b, e[v][r]);
        }
      }
    }
  }
  FD_UNROLL for (int r = 0; r < Shape::columns; r += 2) {
    V t[2 * Shape::rows];
    FD_UNROLL for (int i = 0; i < 2 * Shape::rows; ++i) {
      t[i] = e[i / 2][r + i % 2];
      if constexpr (kDifference) t[i] = hn::Mul(t[i], hn::Set(d, static_cast<T>(-0.5)));
    }
    exp2<kForm != Form::bounded>(d, t);
    FD_UNROLL for (int i = 0; i < 2 * Shape::rows; ++i) e[i / 2][r + i % 2] = t[i];
  }
}

// tile[j][i], all 48 × 48 of it.
template <Form kForm, class T>
HWY_NOINLINE void store_tile(const T* xi, const T* ai, const T* li, ColumnPanel<T> columns, std::size_t dimension, T* tile) {
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  for (std::size_t i = 0; i < panel_rows; i += Shape::rows * lanes)
    for (std::size_t j = 0; j < panel_rows; j += Shape::columns) {
      hn::Vec<Tag<T>> e[Shape::rows][Shape::columns];
      entries<kForm>(xi + i, ai + i, columns.x + j * columns.step, columns.half + j, li + i, columns.low + j * columns.step,
                     dimension, columns.stride, e);
      FD_UNROLL for (int r = 0; r < Shape::columns; ++r) FD_UNROLL for (int v = 0; v < Shape::rows; ++v)
          hn::Store(e[v][r], d, tile + (j + r) * panel_rows + i + v * lanes);
    }
}

// The epilogue in registers. y[c][i] += sum_j e_ij w_j[c][j]; for both directions also z[j][c][lane] += e_ij w_i[c][i], lanes kept apart
// until the chunk is done. Mass: c = 0 sums e, c = 1 sums e^2, both with weight w[0]. Forms that are rare read entries that were stored.
template <int kColumns, bool kMass, bool kBoth, Form kForm, class T>
HWY_NOINLINE void narrow_tile(const T* xi, const T* ai, ColumnPanel<T> columns, std::size_t dimension, const T* HWY_RESTRICT tile,
                              const T* HWY_RESTRICT wi, const T* HWY_RESTRICT wj, T* HWY_RESTRICT y, T* HWY_RESTRICT z) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  for (std::size_t i = 0; i < panel_rows; i += Shape::rows * lanes)
    for (std::size_t j = 0; j < panel_rows; j += Shape::columns) {
      V e[Shape::rows][Shape::columns];
      if constexpr (kForm != Form::bounded && kForm != Form::expanded) {
        FD_UNROLL for (int r = 0; r < Shape::columns; ++r) FD_UNROLL for (int v = 0; v < Shape::rows; ++v) e[v][r] =
            hn::Load(d, tile + (j + r) * panel_rows + i + v * lanes);
      } else {
        entries<kForm>(xi + i, ai + i, columns.x + j * columns.step, columns.half + j, xi, xi, dimension, columns.stride, e);
      }
      FD_UNROLL for (int c = 0; c < kColumns; ++c) {
        const std::size_t w = kMass ? 0 : c * panel_rows;
        if (kMass && c == 1) {
          FD_UNROLL for (int v = 0; v < Shape::rows; ++v) FD_UNROLL for (int r = 0; r < Shape::columns; ++r) e[v][r] =
              hn::Mul(e[v][r], e[v][r]);
        }
        FD_UNROLL for (int v = 0; v < Shape::rows; ++v) {
          V sum = hn::Load(d, y + c * panel_rows + i + v * lanes);
          FD_UNROLL for (int r = 0; r < Shape::columns; ++r) sum = hn::MulAdd(e[v][r], hn::Set(d, wj[w + j + r]), sum);
          hn::Store(sum, d, y + c * panel_rows + i + v * lanes);
        }
        if constexpr (kBoth) {
          V u[Shape::rows];
          FD_UNROLL for (int v = 0; v < Shape::rows; ++v) u[v] = hn::Load(d, wi + w + i + v * lanes);
          FD_UNROLL for (int r = 0; r < Shape::columns; ++r) {
            T* at = z + ((j + r) * kColumns + c) * lanes;
            V sum = hn::Load(d, at);
            FD_UNROLL for (int v = 0; v < Shape::rows; ++v) sum = hn::MulAdd(e[v][r], u[v], sum);
            hn::Store(sum, d, at);
          }
        }
      }
    }
}

// y[r][c] += sum over depth of k[r * row_step + m * depth_step] w[m][c], for kRows rows and kVectors vectors of columns.
template <int kVectors, int kRows, class T>
HWY_INLINE void product(const T* HWY_RESTRICT k, std::size_t row_step, std::size_t depth_step, std::size_t depth,
                        const T* HWY_RESTRICT w, std::size_t w_stride, T* HWY_RESTRICT y, std::size_t y_stride) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  V sum[kRows][kVectors];
  FD_UNROLL for (int r = 0; r < kRows; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] =
      hn::Load(d, y + r * y_stride + v * lanes);
  for (std::size_t m = 0; m < depth; ++m, k += depth_step, w += w_stride) {
    V u[kVectors];
    FD_UNROLL for (int v = 0; v < kVectors; ++v) u[v] = hn::Load(d, w + v * lanes);
    FD_UNROLL for (int r = 0; r < kRows; ++r) {
      const V b = hn::Set(d, k[r * row_step]);
      FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(b, u[v], sum[r][v]);
    }
  }
  FD_UNROLL for (int r = 0; r < kRows; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v)
      hn::Store(sum[r][v], d, y + r * y_stride + v * lanes);
}

// Both directions at once: y_i += k_ij w_j and z_j += k_ij w_i share the broadcast of k_ij, and only y is loaded and stored on the way.
// tile[j][i]; kVectors vectors of columns; the rows of y, z and both weights are `stride` apart.
template <int kVectors, class T>
HWY_NOINLINE void both_products(const T* HWY_RESTRICT tile, const T* HWY_RESTRICT wi, const T* HWY_RESTRICT wj,
                                std::size_t stride, T* HWY_RESTRICT y, T* HWY_RESTRICT z) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr int kDeep = Shape::deep / kVectors;
  for (std::size_t j = 0; j < panel_rows; j += kDeep, tile += kDeep * panel_rows) {
    V sum[kDeep][kVectors], w[kDeep][kVectors];
    FD_UNROLL for (int r = 0; r < kDeep; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Load(d, z + (j + r) * stride + v * lanes);
      w[r][v] = hn::Load(d, wj + (j + r) * stride + v * lanes);
    }
    for (std::size_t i = 0; i < panel_rows; ++i) {
      V row[kVectors];
      FD_UNROLL for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, y + i * stride + v * lanes);
      FD_UNROLL for (int r = 0; r < kDeep; ++r) {
        const V k = hn::Set(d, tile[r * panel_rows + i]);
        FD_UNROLL for (int v = 0; v < kVectors; ++v) {
          row[v] = hn::MulAdd(k, w[r][v], row[v]);
          sum[r][v] = hn::MulAdd(k, hn::Load(d, wi + i * stride + v * lanes), sum[r][v]);
        }
      }
      FD_UNROLL for (int v = 0; v < kVectors; ++v) hn::Store(row[v], d, y + i * stride + v * lanes);
    }
    FD_UNROLL for (int r = 0; r < kDeep; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v)
        hn::Store(sum[r][v], d, z + (j + r) * stride + v * lanes);
  }
}

// The same for the first `rows` of 48 rows (more of them where a register tile ends later) and `columns` columns, a multiple of the
// lanes.
template <class T>
HWY_NOINLINE void panel_product(std::size_t rows, const T* k, std::size_t row_step, std::size_t depth_step, std::size_t depth,
                                const T* w, std::size_t w_stride, std::size_t columns, T* y, std::size_t y_stride) {
  constexpr std::size_t lanes = lanes_of<T>();
  std::size_t c = 0;
  for (; c + Shape::wide * lanes <= columns; c += Shape::wide * lanes)
    for (std::size_t r = 0; r < rows; r += Shape::deep)
      product<Shape::wide, Shape::deep>(k + r * row_step, row_step, depth_step, depth, w + c, w_stride, y + r * y_stride + c,
                                        y_stride);
  for (; c < columns; c += lanes)
    for (std::size_t r = 0; r < rows; r += 2 * Shape::deep)
      product<1, 2 * Shape::deep>(k + r * row_step, row_step, depth_step, depth, w + c, w_stride, y + r * y_stride + c, y_stride);
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
  const T* from = x.centre.data() + p * dimension;
  const T* to = z.centre.data() + q * dimension;
  const T squared = squared_distance(from, to, dimension);
  // balls around two panels: no pair is closer than `apart` or further than `span`
  const T between = std::sqrt(squared), radii = x.radius[p] + z.radius[q];
  const T apart = between * static_cast<T>(1 - 1e-4) - radii, span = (between + radii) * static_cast<T>(1 + 1e-4);
  if (apart > 0 && apart * apart * static_cast<T>(0.5) > -Exp2<T>::lowest) return Form::skip;
  if (!x.local) return span * span * static_cast<T>(0.5) < -1 - Exp2<T>::lowest ? Form::bounded : Form::expanded;

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

// Fills scratch.tile; a diagonal tile of a symmetric pass gets zeros on its diagonal.
template <class T>
void fill_tile(const Pass<T>& pass, std::size_t p, std::size_t q, Form form, ColumnPanel<T> columns, Scratch<T>& scratch) {
  const PackedPoints<T>& x = *pass.x;
  const auto store = form == Form::exact        ? store_tile<Form::exact, T>
                     : form == Form::difference ? store_tile<Form::difference, T>
                     : form == Form::bounded    ? store_tile<Form::bounded, T>
                                                : store_tile<Form::expanded, T>;
  T* tile = scratch.tile.data();
  store(x.panel(p), x.half.data() + p * panel_rows, x.low_panel(p), columns, x.dimension, tile);
  if (pass.symmetric && p == q)
    for (std::size_t r = 0; r < panel_rows; ++r) tile[r * panel_rows + r] = 0;
}

// One epilogue for a tile in which the form is known. `both`: also the transposed direction.
template <int kColumns, bool kMass, class T>
void narrow(const Pass<T>& pass, std::size_t p, std::size_t q, std::size_t chunk_first, Form form, ColumnPanel<T> columns,
            Scratch<T>& scratch) {
  const std::size_t weight_columns = kMass ? 1 : kColumns;
  const T* xi = pass.x->panel(p);
  const T* ai = pass.x->half.data() + p * panel_rows;
  const T* wi = pass.weights_x + p * panel_rows * weight_columns;
  const T* wj = pass.weights_z + q * panel_rows * weight_columns;
  T* y = scratch.row_sums.data();
  T* z = scratch.column_sums.data() + (q - chunk_first) * panel_rows * kColumns * lanes_of<T>();
  const bool diagonal = pass.symmetric && p == q;
  T* tile = scratch.tile.data();
  if (diagonal || (form != Form::bounded && form != Form::expanded)) {
    fill_tile(pass, p, q, form, columns, scratch);
    form = Form::exact;  // any that reads the tile
  }
  const auto run = [&]<Form kForm>() {
    const bool both = pass.symmetric && !diagonal;
    const auto kernel = both ? narrow_tile<kColumns, kMass, true, kForm, T> : narrow_tile<kColumns, kMass, false, kForm, T>;
    kernel(xi, ai, columns, pass.x->dimension, tile, wi, wj, y, z);
  };
  if (form == Form::bounded) run.template operator()<Form::bounded>();
  else if (form == Form::expanded) run.template operator()<Form::expanded>();
  else run.template operator()<Form::exact>();
}

template <class T>
void wide(const Pass<T>& pass, std::size_t p, std::size_t q, std::size_t chunk_first, Form form, ColumnPanel<T> columns,
          Scratch<T>& scratch) {
  fill_tile(pass, p, q, form, columns, scratch);
  const T* tile = scratch.tile.data();
  const std::size_t stride = pass.stride;
  const T* wi = pass.weights_x + p * panel_rows * stride;
  const T* wj = pass.weights_z + q * panel_rows * stride;
  T* y = scratch.row_sums.data();
  T* z = scratch.column_sums.data() + (q - chunk_first) * panel_rows * stride;
  if (!pass.symmetric || p == q) {
    panel_product(panel_rows, tile, 1, panel_rows, panel_rows, wj, stride, stride, y, stride);
    return;
  }
  constexpr std::size_t lanes = lanes_of<T>();
  std::size_t c = 0;
  for (; c + Shape::wide * lanes <= stride; c += Shape::wide * lanes)
    both_products<Shape::wide>(tile, wi + c, wj + c, stride, y + c, z + c);
  for (; c < stride; c += lanes) both_products<1>(tile, wi + c, wj + c, stride, y + c, z + c);
}

// Partial sums in T over at most a block of rows, then fp64: what a promise gives is not lost at any N.
template <class T>
void add_sums(const T* HWY_RESTRICT sums, std::size_t count, double* HWY_RESTRICT y) {
  for (std::size_t k = 0; k < count; ++k) y[k] += static_cast<double>(sums[k]);
}

// The same for sums [48][columns][lane], to y [columns][48].
template <class T>
void add_lanes(const T* sums, std::size_t columns, double* y) {
  const Tag<T> d;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < panel_rows; ++r) {
      const auto lanes = hn::Load(d, sums + (r * columns + c) * lanes_of<T>());
      y[c * panel_rows + r] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, lanes)));
    }
}

template <class T>
using TileEpilogue = void (*)(const Pass<T>&, std::size_t, std::size_t, std::size_t, Form, ColumnPanel<T>, Scratch<T>&);

template <class T>
TileEpilogue<T> choose_epilogue(const Pass<T>& pass) {
  if (pass.epilogue == Epilogue::mass) return narrow<2, true, T>;
  if (pass.epilogue == Epilogue::wide) return wide<T>;
  switch (pass.stride) {
    case 1: return narrow<1, false, T>;
    case 2: return narrow<2, false, T>;
    case 4: return narrow<4, false, T>;
    default: break;
  }
  if constexpr (Shape::narrow_most >= 8) return narrow<8, false, T>;
  return wide<T>;
}

// Where column panels are packed in groups: from a size at which two panels fill a small first-level cache, and for enough row panels
// to pay for the copy.
constexpr std::size_t packed_from = 400, packed_rows = 4;  // bytes of a row; panels

template <class T>
void tiles(const Pass<T>& pass, PanelRange rows, PanelRange columns, Scratch<T>& scratch) {
  constexpr std::size_t lanes = lanes_of<T>();
  const bool is_wide = pass.epilogue == Epilogue::wide, diagonal_block = pass.symmetric && rows.first == columns.first;
  const std::size_t column_size = panel_rows * pass.stride * (is_wide ? 1 : lanes);  // of one panel's column sums
  const std::size_t row_size = panel_rows * pass.stride;
  scratch.tile.at_least(panel_rows * panel_rows);
  scratch.moved.at_least((2 * pass.x->dimension + 1) * panel_rows);
  scratch.row_sums.at_least(row_size);
  scratch.column_sums.at_least(chunk_panels * column_size);
  const TileEpilogue<T> epilogue = choose_epilogue(pass);
  const std::size_t panel_size = panel_rows * pass.x->dimension;
  const bool pack = !pass.z->local && pass.x->dimension * sizeof(T) >= packed_from && rows.last - rows.first >= packed_rows;
  if (pack) scratch.groups.at_least(chunk_panels * panel_size);

  for (std::size_t first = columns.first; first < columns.last; first += chunk_panels) {
    const std::size_t last = std::min(columns.last, first + chunk_panels);
    if (pass.symmetric) std::memset(scratch.column_sums.data(), 0, (last - first) * column_size * sizeof(T));
    if (pack)
      for (std::size_t q = first; q < last; ++q)
        pack_groups(pass.z->panel(q), pass.x->dimension, scratch.groups.data() + (q - first) * panel_size);
    for (std::size_t p = rows.first; p < (diagonal_block ? last : rows.last); ++p) {
      std::memset(scratch.row_sums.data(), 0, row_size * sizeof(T));
      bool any = false;
      for (std::size_t q = diagonal_block ? std::max(first, p) : first; q < last; ++q) {
        ColumnPanel<T> column;
        const Form form = prepare(pass, p, q, pack ? scratch.groups.data() + (q - first) * panel_size : nullptr, scratch, column);
        if (form == Form::skip) continue;
        epilogue(pass, p, q, first, form, column, scratch);
        any = true;
      }
      if (any) add_sums(scratch.row_sums.data(), row_size, pass.y + p * row_size);
    }
    if (!pass.symmetric) continue;
    for (std::size_t q = first; q < last; ++q) {
      const T* sums = scratch.column_sums.data() + (q - first) * column_size;
      if (is_wide) add_sums(sums, row_size, pass.y + q * row_size);
      else add_lanes(sums, pass.stride, pass.y + q * row_size);
    }
  }
}

// rows × columns of `from`, widened, with zeros up to `padded` columns.
template <class T>
void widen(const T* HWY_RESTRICT from, std::size_t stride, std::size_t rows, std::size_t columns, std::size_t padded,
           double* HWY_RESTRICT to) {
  for (std::size_t m = 0; m < rows; ++m, from += stride, to += padded) {
    for (std::size_t e = 0; e < columns; ++e) to[e] = static_cast<double>(from[e]);
    for (std::size_t e = columns; e < padded; ++e) to[e] = 0;
  }
}

// Products of floats are exact in fp64, so the Gram matrix of an fp32 block tells directions apart down to the block's own rounding.
template <class T>
void gram(const T* a, std::size_t lda, std::size_t na, const T* b, std::size_t ldb, std::size_t nb, std::size_t rows, double* g,
          Scratch<T>& scratch) {
  constexpr std::size_t depth = 128, lanes = lanes_of<double>();
  const std::size_t padded = (nb + lanes - 1) / lanes * lanes;
  scratch.wide.at_least(depth * (padded + panel_rows) + panel_rows * padded);
  double* right = scratch.wide.data();
  double* left = right + depth * padded;
  double* sums = left + depth * panel_rows;
  for (std::size_t first = 0; first < rows; first += depth) {
    const std::size_t count = std::min(depth, rows - first);
    widen(b + first * ldb, ldb, count, nb, padded, right);
    for (std::size_t c = 0; c < na; c += panel_rows) {
      const std::size_t some = std::min(panel_rows, na - c);
      widen(a + first * lda + c, lda, count, some, panel_rows, left);
      std::memset(sums, 0, panel_rows * padded * sizeof(double));
      panel_product(some, left, 1, panel_rows, count, right, padded, padded, sums, padded);
      for (std::size_t r = 0; r < some; ++r)
        for (std::size_t e = 0; e < nb; ++e) g[(c + r) * nb + e] += sums[r * padded + e];
    }
  }
}

template <class T>
void combine(const T* a, std::size_t lda, std::size_t na, const T* s, std::size_t padded, T* y, std::size_t ldy, std::size_t ny,
             std::size_t rows, bool accumulate, Scratch<T>& scratch) {
  scratch.row_sums.at_least(panel_rows * padded);
  scratch.column_sums.at_least(panel_rows * na);
  T* sums = scratch.row_sums.data();
  for (std::size_t first = 0; first < rows; first += panel_rows) {
    const std::size_t count = std::min(panel_rows, rows - first);
    const T* from = a + first * lda;
    std::size_t stride = lda;
    if (count < panel_rows) {  // the last rows: a copy that may be read in full
      T* copy = scratch.column_sums.data();
      std::memset(copy, 0, panel_rows * na * sizeof(T));
      for (std::size_t r = 0; r < count; ++r) std::memcpy(copy + r * na, from + r * lda, na * sizeof(T));
      from = copy;
      stride = na;
    }
    std::memset(sums, 0, panel_rows * padded * sizeof(T));
    panel_product(panel_rows, from, stride, 1, na, s, padded, padded, sums, padded);
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t e = 0; e < ny; ++e) {
        T& to = y[(first + r) * ldy + e];
        to = sums[r * padded + e] + (accumulate ? to : T{0});
      }
  }
}

template <class T>
void exp2_array(const T* t, T* e, std::size_t count) {
  const Tag<T> d;
  constexpr int group = 4;
  constexpr std::size_t size = group * lanes_of<T>();
  T last[size] = {};
  for (std::size_t i = 0; i < count; i += size) {
    const std::size_t some = std::min(size, count - i);
    const T* from = t + i;
    T* to = e + i;
    if (some < size) {
      std::memcpy(last, from, some * sizeof(T));
      from = to = last;
    }
    hn::Vec<Tag<T>> x[group];
    FD_UNROLL for (int g = 0; g < group; ++g) x[g] = hn::LoadU(d, from + g * lanes_of<T>());
    exp2<true>(d, x);
    FD_UNROLL for (int g = 0; g < group; ++g) hn::StoreU(x[g], d, to + g * lanes_of<T>());
    if (some < size) std::memcpy(e + i, last, some * sizeof(T));
  }
}

constexpr int independent = 12;  // enough to hide the latency of two pipes

template <class T>
T multiply_adds(std::size_t rounds) {
  const Tag<T> d;
  const auto a = hn::Set(d, static_cast<T>(0.999)), b = hn::Set(d, static_cast<T>(0.001));
  hn::Vec<Tag<T>> x[independent];
  FD_UNROLL for (int i = 0; i < independent; ++i) x[i] = hn::Set(d, static_cast<T>(i));
  for (std::size_t round = 0; round < rounds; ++round)
    FD_UNROLL for (int i = 0; i < independent; ++i) x[i] = hn::MulAdd(x[i], a, b);
  FD_UNROLL for (int i = 1; i < independent; ++i) x[0] = hn::Add(x[0], x[i]);
  return hn::GetLane(x[0]);
}

template <class T>
const TileKernels<T>* kernels() {
  static constexpr TileKernels<T> table = {lanes_of<T>(), Shape::narrow_most, tiles<T>,         gram<T>,
                                           combine<T>,    exp2_array<T>,      multiply_adds<T>, independent * lanes_of<T>()};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#endif
