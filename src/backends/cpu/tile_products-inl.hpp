// What is done with a tile of entries while it is in first-level cache, and all other products of the back-end: K W, K^T W, A^T B, A S.

#if defined(FD_TILE_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FD_TILE_PRODUCTS_INL
#undef FD_TILE_PRODUCTS_INL
#else
#define FD_TILE_PRODUCTS_INL
#endif

#include <algorithm>

#include "backends/cpu/tile_pass.hpp"
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
// The most vectors, of those that cut a panel into equal parts, for which there are `sums` accumulators.
template <class T>
constexpr int vectors_at_once(int sums) {
  constexpr int all = panel_rows / lanes_of<T>();
  int most = std::clamp(sums, 1, all);
  while (all % most != 0) --most;
  return most;
}

// A few columns, vectors along i: y[c][i] += sum_j e_ij w_j[c] and, for both directions, z[j][c][lane] += e_ij w_i[c][i], lanes kept
// apart until the chunk is done. One or two columns: both directions from one load of the entry. Mass: column 0 sums e w, column 1
// (e w)^2, both with the weights of column 0. (wi and z may not be told to be apart: compilers would load all weights ahead of the
// loop and keep them on the stack.)
template <int kColumns, bool kMass, bool kBoth, class T>
HWY_NOINLINE void few_columns(const T* HWY_RESTRICT tile, const T* wi, const T* HWY_RESTRICT wj, T* HWY_RESTRICT y, T* z) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr int kVectors = vectors_at_once<T>(Shape::sums / (2 * kColumns));
  constexpr bool kHeld = kMass || kColumns == 1;  // there are registers left for the weights at i
  for (std::size_t i = 0; i < panel_rows; i += kVectors * lanes) {
    V sum[kColumns][kVectors], held[kVectors];
    if constexpr (kBoth && kHeld) {
      FD_UNROLL for (int v = 0; v < kVectors; ++v) held[v] = hn::Load(d, wi + i + v * lanes);
    }
    FD_UNROLL for (int c = 0; c < kColumns; ++c) FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[c][v] =
        hn::Load(d, y + c * panel_rows + i + v * lanes);
    FD_TWICE for (std::size_t j = 0; j < panel_rows; ++j) {
      V column[kColumns];
      if constexpr (kBoth) {
        FD_UNROLL for (int c = 0; c < kColumns; ++c) column[c] = hn::Load(d, z + (j * kColumns + c) * lanes);
      }
      FD_UNROLL for (int v = 0; v < kVectors; ++v) {
        const V e = hn::Load(d, tile + j * panel_rows + i + v * lanes);
        if constexpr (kMass) {
          const V along = hn::Mul(e, hn::Set(d, wj[j]));
          sum[0][v] = hn::Add(sum[0][v], along);
          sum[1][v] = hn::MulAdd(along, along, sum[1][v]);
          if constexpr (kBoth) {
            const V across = hn::Mul(e, held[v]);
            column[0] = hn::Add(column[0], across);
            column[1] = hn::MulAdd(across, across, column[1]);
          }
        } else FD_UNROLL for (int c = 0; c < kColumns; ++c) {
            sum[c][v] = hn::MulAdd(e, hn::Set(d, wj[c * panel_rows + j]), sum[c][v]);
            if constexpr (kBoth)
              column[c] = hn::MulAdd(e, kHeld ? held[v] : hn::Load(d, wi + c * panel_rows + i + v * lanes), column[c]);
          }
      }
      if constexpr (kBoth) {
        FD_UNROLL for (int c = 0; c < kColumns; ++c) hn::Store(column[c], d, z + (j * kColumns + c) * lanes);
      }
    }
    FD_UNROLL for (int c = 0; c < kColumns; ++c) FD_UNROLL for (int v = 0; v < kVectors; ++v)
        hn::Store(sum[c][v], d, y + c * panel_rows + i + v * lanes);
  }
}

// z[j][c][lane] += e_ij w_i[c][i] for the columns from kFirst on, with the weights of as many columns at once as the registers hold.
template <int kColumns, int kFirst, class T>
HWY_INLINE void along_j(const T* HWY_RESTRICT tile, const T* wi, T* z) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr int kHeight = panel_rows / lanes, kAtOnce = std::clamp((Shape::registers - 1) / (kHeight + 1), 1, kColumns - kFirst);
  V w[kAtOnce][kHeight];
  FD_UNROLL for (int c = 0; c < kAtOnce; ++c) FD_UNROLL for (int v = 0; v < kHeight; ++v) w[c][v] =
      hn::Load(d, wi + (kFirst + c) * panel_rows + v * lanes);
  FD_TWICE for (std::size_t j = 0; j < panel_rows; ++j) {
    V sum[kAtOnce];
    FD_UNROLL for (int c = 0; c < kAtOnce; ++c) sum[c] = hn::Load(d, z + (j * kColumns + kFirst + c) * lanes);
    FD_UNROLL for (int v = 0; v < kHeight; ++v) {
      const V e = hn::Load(d, tile + j * panel_rows + v * lanes);
      FD_UNROLL for (int c = 0; c < kAtOnce; ++c) sum[c] = hn::MulAdd(e, w[c][v], sum[c]);
    }
    FD_UNROLL for (int c = 0; c < kAtOnce; ++c) hn::Store(sum[c], d, z + (j * kColumns + kFirst + c) * lanes);
  }
  if constexpr (kFirst + kAtOnce < kColumns) along_j<kColumns, kFirst + kAtOnce>(tile, wi, z);
}

// The same from three columns on, each direction for itself: along i the registers are filled with sums, along j with weights.
template <int kColumns, bool kBoth, class T>
HWY_NOINLINE void some_columns(const T* HWY_RESTRICT tile, const T* wi, const T* HWY_RESTRICT wj, T* HWY_RESTRICT y, T* z) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr int kVectors = vectors_at_once<T>((Shape::registers - 1) / (kColumns + 1));  // sums, entries and a weight
  for (std::size_t i = 0; i < panel_rows; i += kVectors * lanes) {
    V sum[kColumns][kVectors];
    FD_UNROLL for (int c = 0; c < kColumns; ++c) FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[c][v] =
        hn::Load(d, y + c * panel_rows + i + v * lanes);
    FD_TWICE for (std::size_t j = 0; j < panel_rows; ++j) {
      V e[kVectors];
      FD_UNROLL for (int v = 0; v < kVectors; ++v) e[v] = hn::Load(d, tile + j * panel_rows + i + v * lanes);
      FD_UNROLL for (int c = 0; c < kColumns; ++c) {
        const V w = hn::Set(d, wj[c * panel_rows + j]);
        FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[c][v] = hn::MulAdd(e[v], w, sum[c][v]);
      }
    }
    FD_UNROLL for (int c = 0; c < kColumns; ++c) FD_UNROLL for (int v = 0; v < kVectors; ++v)
        hn::Store(sum[c][v], d, y + c * panel_rows + i + v * lanes);
  }
  if constexpr (kBoth) along_j<kColumns, 0>(tile, wi, z);
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
  FD_TWICE for (std::size_t m = 0; m < depth; ++m, k += depth_step, w += w_stride) {
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
// tile[j][i]; y, z and both weights are blocks of kVectors vectors of columns. Where there is one register too few, the last weight is
// read where it lies (wj and y may not be told to be apart: it would be loaded ahead of the loop and kept on the stack).
template <int kVectors, class T>
HWY_NOINLINE void both_products(const T* HWY_RESTRICT tile, const T* HWY_RESTRICT wi, const T* wj, T* y, T* HWY_RESTRICT z) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr std::size_t stride = kVectors * lanes;
  constexpr int kDeep = Shape::deep / kVectors;
  constexpr bool kFull = 2 * kDeep * kVectors + 2 * kVectors + 1 > Shape::registers;  // sums, weights, rows at i and an entry
  for (std::size_t j = 0; j < panel_rows; j += kDeep, tile += kDeep * panel_rows, wj += kDeep * stride, z += kDeep * stride) {
    V sum[kDeep][kVectors], w[kDeep][kVectors];
    FD_UNROLL for (int r = 0; r < kDeep; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Load(d, z + r * stride + v * lanes);
      w[r][v] = hn::Load(d, wj + r * stride + v * lanes);
    }
    FD_TWICE for (std::size_t i = 0; i < panel_rows; ++i) {
      V row[kVectors];
      FD_UNROLL for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, y + i * stride + v * lanes);
      FD_UNROLL for (int r = 0; r < kDeep; ++r) {
        const V k = hn::Set(d, tile[r * panel_rows + i]);
        FD_UNROLL for (int v = 0; v < kVectors; ++v) {
          const bool last = kFull && r == kDeep - 1 && v == kVectors - 1;
          row[v] = hn::MulAdd(k, last ? hn::Load(d, wj + r * stride + v * lanes) : w[r][v], row[v]);
          sum[r][v] = hn::MulAdd(k, hn::Load(d, wi + i * stride + v * lanes), sum[r][v]);
        }
      }
      FD_UNROLL for (int v = 0; v < kVectors; ++v) hn::Store(row[v], d, y + i * stride + v * lanes);
    }
    FD_UNROLL for (int r = 0; r < kDeep; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v)
        hn::Store(sum[r][v], d, z + r * stride + v * lanes);
  }
}

// `product` for the first `rows` of 48 rows (more of them where a register tile ends later) and `columns` columns, a multiple of the
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

}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#endif
