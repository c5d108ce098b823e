// The tile kernels, compiled once for every instruction set (Highway's foreach_target). A kernel is main loop × epilogue ×
// scheduler: the main loop makes 48 × 48 kernel entries (tile_entries), the epilogue uses them while they are in first-level cache
// (tile_products), the scheduler (schedule.hpp) hands out blocks of tiles.

#if defined(FD_TILE_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FD_TILE_KERNELS_INL
#undef FD_TILE_KERNELS_INL
#else
#define FD_TILE_KERNELS_INL
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/amx.hpp"
#include "backends/cpu/tile_entries-inl.hpp"
#include "backends/cpu/tile_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
template <int kColumns, bool kMass, class T>
void narrow(const Pass<T>& pass, std::size_t p, std::size_t q, std::size_t chunk_first, const T* tile, Scratch<T>& scratch) {
  constexpr std::size_t weights = kMass ? 1 : kColumns;
  const bool both = pass.two_directions && !pass.diagonal(p, q);
  auto product = both ? few_columns<std::min(kColumns, 2), kMass, true, T> : few_columns<std::min(kColumns, 2), kMass, false, T>;
  if constexpr (kColumns > 2) product = both ? some_columns<kColumns, true, T> : some_columns<kColumns, false, T>;
  product(tile, pass.weights_x + p * panel_rows * weights, pass.weights_z + q * panel_rows * weights, scratch.row_sums.data(),
          scratch.column_sums.data() + (q - chunk_first) * panel_rows * kColumns * lanes_of<T>());
}

template <class T>
void wide(const Pass<T>& pass, std::size_t p, std::size_t q, std::size_t chunk_first, const T* tile, Scratch<T>& scratch) {
  constexpr std::size_t block = Shape::wide * lanes_of<T>();
  for (std::size_t c = 0; c < pass.stride; c += block) {
    const std::size_t width = std::min(block, pass.stride - c), first = c * panel_rows;
    const T* wi = pass.weights_x + p * panel_rows * pass.stride + first;
    const T* wj = pass.weights_z + q * panel_rows * pass.stride + first;
    T* y = scratch.row_sums.data() + first;
    T* z = scratch.column_sums.data() + (q - chunk_first) * panel_rows * pass.stride + first;
    if (!pass.two_directions || pass.diagonal(p, q))
      panel_product(panel_rows, tile, 1, panel_rows, panel_rows, wj, width, width, y, width);
    else if (width == block) both_products<Shape::wide>(tile, wi, wj, y, z);
    else both_products<1>(tile, wi, wj, y, z);
  }
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
using TileEpilogue = void (*)(const Pass<T>&, std::size_t, std::size_t, std::size_t, const T*, Scratch<T>&);

template <class T>
TileEpilogue<T> choose_epilogue(const Pass<T>& pass) {
  if (pass.epilogue == Epilogue::mass) return narrow<2, true, T>;
  if (pass.epilogue == Epilogue::wide) return wide<T>;
  switch (pass.stride) {
    case 1: return narrow<1, false, T>;
    case 2: return narrow<2, false, T>;
    case 3: return narrow<3, false, T>;
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
void tiles(const Pass<T>& pass, PanelRange rows, PanelRange columns, const TaskTiles<T>& task, Scratch<T>& scratch) {
  constexpr std::size_t lanes = lanes_of<T>();
  const bool is_wide = pass.epilogue == Epilogue::wide, diagonal_block = pass.diagonal(rows.first, columns.first);
  const std::size_t column_size = panel_rows * pass.stride * (is_wide ? 1 : lanes);  // of one panel's column sums
  const std::size_t row_size = panel_rows * pass.stride;
  scratch.tile.at_least(tile_entries);
  scratch.moved.at_least((2 * pass.x->dimension + 1) * panel_rows);
  scratch.row_sums.at_least(row_size);
  scratch.column_sums.at_least(chunk_panels * column_size);
  const TileEpilogue<T> epilogue = choose_epilogue(pass);
  const bool split = pass.x->coding.numbers == Numbers::split;
  if (split) amx::begin();
  const std::size_t panel_size = panel_rows * pass.x->dimension;
  const bool pack =
      !pass.z->local && !split && pass.x->dimension * sizeof(T) >= packed_from && rows.last - rows.first >= packed_rows;
  if (pack) scratch.groups.at_least(chunk_panels * panel_size);
  const auto left_out = [&](std::size_t index, std::size_t p, std::size_t q) {
    return task.survivors != nullptr ? (task.survivors[index / 64] >> (index % 64) & 1) == 0
                                     : !pass.two_directions && negligible(pass, p, q);
  };

  // Entries of a tile: those that are kept, or made here, of exponents that may be kept.
  bool packed[chunk_panels];
  const auto entries_of = [&](std::size_t index, std::size_t p, std::size_t q, std::size_t first) -> const T* {
    T* const kept = task.kept == nullptr ? nullptr : task.kept + index * tile_entries;
    T* const exponents = kept == nullptr ? scratch.tile.data() : kept;
    const bool make = kept == nullptr || task.made[index] == 0;
    if (make) {
      if (pack && !packed[q - first]) {
        pack_groups(pass.z->panel(q), pass.x->dimension, scratch.groups.data() + (q - first) * panel_size);
        packed[q - first] = true;
      }
      ColumnPanel<T> column;
      const Form form = prepare(pass, p, q, pack ? scratch.groups.data() + (q - first) * panel_size : nullptr, scratch, column);
      fill_exponents(pass, p, form, column, exponents);
      if (kept != nullptr) task.made[index] = 1;
    }
    T* const entries = task.as_entries ? exponents : scratch.tile.data();
    if (make || !task.as_entries) fill_entries(pass, p, q, exponents, entries);
    return entries;
  };

  std::size_t index = 0;  // of the tile in the task
  for (std::size_t first = columns.first; first < columns.last; first += chunk_panels) {
    const std::size_t last = std::min(columns.last, first + chunk_panels);
    bool any_of_chunk = false;
    std::fill_n(packed, chunk_panels, false);
    for (std::size_t p = rows.first; p < (diagonal_block ? last : rows.last); ++p) {
      bool any = false;
      for (std::size_t q = diagonal_block ? std::max(first, p) : first; q < last; ++q, ++index) {
        if (left_out(index, p, q)) continue;
        if (!any) std::memset(scratch.row_sums.data(), 0, row_size * sizeof(T));
        if (!any_of_chunk && pass.two_directions)
          std::memset(scratch.column_sums.data(), 0, (last - first) * column_size * sizeof(T));
        any = any_of_chunk = true;
        epilogue(pass, p, q, first, entries_of(index, p, q, first), scratch);
      }
      if (any) add_sums(scratch.row_sums.data(), row_size, pass.y_x + p * row_size);
    }
    if (!pass.two_directions || !any_of_chunk) continue;
    for (std::size_t q = first; q < last; ++q) {
      const T* sums = scratch.column_sums.data() + (q - first) * column_size;
      if (is_wide) add_sums(sums, row_size, pass.y_z + q * row_size);
      else add_lanes(sums, pass.stride, pass.y_z + q * row_size);
    }
  }
  if (split) amx::end();
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

template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const double* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_widened(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

// sums[r][v] += sum over m of narrow[m][r] wide[m][v], for Shape::columns rows r and kVectors vectors of columns, which are widened on their way:
// of the block with more columns no copy is made.
template <int kVectors, class T>
HWY_NOINLINE void gram_tile(const T* wide, std::size_t wide_stride, const double* narrow, std::size_t narrow_stride,
                            std::size_t depth, double* sums, std::size_t sums_stride) {
  const Tag<double> d;
  using V = hn::Vec<Tag<double>>;
  constexpr std::size_t lanes = lanes_of<double>();
  V sum[Shape::columns][kVectors];
  FD_UNROLL for (int r = 0; r < Shape::columns; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] =
      hn::LoadU(d, sums + r * sums_stride + v * lanes);
  for (std::size_t m = 0; m < depth; ++m, wide += wide_stride, narrow += narrow_stride) {
    V x[kVectors];
    FD_UNROLL for (int v = 0; v < kVectors; ++v) x[v] = load_widened(d, wide + v * lanes);
    FD_UNROLL for (int r = 0; r < Shape::columns; ++r) {
      const V y = hn::Set(d, narrow[r]);
      FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(y, x[v], sum[r][v]);
    }
  }
  FD_UNROLL for (int r = 0; r < Shape::columns; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[r][v], d, sums + r * sums_stride + v * lanes);
}

// The same for kRows rows, a few, each of which is a register: the accumulators are as many vectors of columns instead, and nothing is copied.
template <int kRows, int kVectors, class T>
HWY_NOINLINE void gram_few(const T* wide, std::size_t wide_stride, const T* narrow, std::size_t narrow_stride, std::size_t depth,
                           double* sums, std::size_t sums_stride) {
  const Tag<double> d;
  using V = hn::Vec<Tag<double>>;
  constexpr std::size_t lanes = lanes_of<double>();
  V sum[kRows][kVectors];
  FD_UNROLL for (int r = 0; r < kRows; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v) sum[r][v] =
      hn::LoadU(d, sums + r * sums_stride + v * lanes);
  for (std::size_t m = 0; m < depth; ++m, wide += wide_stride, narrow += narrow_stride) {
    V y[kRows];
    FD_UNROLL for (int r = 0; r < kRows; ++r) y[r] = hn::Set(d, static_cast<double>(narrow[r]));
    FD_UNROLL for (int v = 0; v < kVectors; ++v) {
      const V x = load_widened(d, wide + v * lanes);
      FD_UNROLL for (int r = 0; r < kRows; ++r) sum[r][v] = hn::MulAdd(y[r], x, sum[r][v]);
    }
  }
  FD_UNROLL for (int r = 0; r < kRows; ++r) FD_UNROLL for (int v = 0; v < kVectors; ++v)
      hn::StoreU(sum[r][v], d, sums + r * sums_stride + v * lanes);
}

// Products of floats are exact in fp64, so the Gram matrix of an fp32 block tells directions apart down to the block's own rounding. Of the block
// with more columns whole vectors are read: the sums of what lies behind its columns are not taken.
template <class T>
void gram(const T* a, std::size_t lda, std::size_t na, const T* b, std::size_t ldb, std::size_t nb, std::size_t rows, double* g,
          Scratch<T>& scratch) {
  constexpr std::size_t depth = 256, lanes = lanes_of<double>(), most_rows = Shape::columns, tile = Shape::rows * lanes;
  const bool a_is_wide = na >= nb;
  const T *wide = a_is_wide ? a : b, *narrow = a_is_wide ? b : a;
  const std::size_t wide_stride = a_is_wide ? lda : ldb, narrow_stride = a_is_wide ? ldb : lda;
  const std::size_t columns = a_is_wide ? na : nb, others = a_is_wide ? nb : na;
  const std::size_t padded = (columns + lanes - 1) / lanes * lanes, high = (others + most_rows - 1) / most_rows * most_rows;
  scratch.wide.at_least(depth * high + high * padded);
  double* left = scratch.wide.data();
  double* sums = left + depth * high;
  std::memset(sums, 0, high * padded * sizeof(double));
  const auto few = [&](auto number) {
    constexpr int kRows = decltype(number)::value, kMost = Shape::rows * Shape::columns / 2;
    std::size_t c = 0;
    const auto vectors = [&](auto count) {
      constexpr int kVectors = decltype(count)::value;
      for (; c + kVectors * lanes <= padded; c += kVectors * lanes)
        gram_few<kRows, kVectors>(wide + c, wide_stride, narrow, narrow_stride, rows, sums + c, padded);
    };
    vectors(std::integral_constant<int, kMost>());
    vectors(std::integral_constant<int, std::max(1, kMost / 3)>());
    vectors(std::integral_constant<int, 1>());
    rows = 0;
  };
  if (others == 1) few(std::integral_constant<int, 1>());
  if (others == 2) few(std::integral_constant<int, 2>());
  for (std::size_t first = 0; first < rows; first += depth, wide += depth * wide_stride, narrow += depth * narrow_stride) {
    const std::size_t count = std::min(depth, rows - first);
    widen(narrow, narrow_stride, count, others, high, left);
    for (std::size_t r = 0; r < others; r += most_rows) {
      double* const to = sums + r * padded;
      std::size_t c = 0;
      for (; c + tile <= padded; c += tile) gram_tile<Shape::rows>(wide + c, wide_stride, left + r, high, count, to + c, padded);
      for (; c < padded; c += lanes) gram_tile<1>(wide + c, wide_stride, left + r, high, count, to + c, padded);
    }
  }
  for (std::size_t r = 0; r < others; ++r)
    for (std::size_t c = 0; c < columns; ++c) g[a_is_wide ? c * nb + r : r * nb + c] += sums[r * padded + c];
}

// Y = A S or Y += A S for a few columns of S: sums of products along the rows of A, which lie together, some rows at once. A vector along the
// columns of S would be nearly empty. Nothing behind a row is read: it may be another thread's, and being written.
template <int kColumns, class T>
HWY_NOINLINE void combine_few(const T* a, std::size_t lda, std::size_t na, const T* s, std::size_t padded, T* y, std::size_t ldy,
                              std::size_t rows, bool accumulate, Scratch<T>& scratch) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr std::size_t kRows = 4, short_rows = 8;
  const auto put = [&](std::size_t r, const T* sums) {
    for (int c = 0; c < kColumns; ++c) y[r * ldy + c] = sums[c] + (accumulate ? y[r * ldy + c] : T{0});
  };
  if (na <= short_rows) {
    for (std::size_t r = 0; r < rows; ++r) {
      T sums[kColumns] = {};
      for (std::size_t m = 0; m < na; ++m)
        for (int c = 0; c < kColumns; ++c) sums[c] += a[r * lda + m] * s[m * padded + c];
      put(r, sums);
    }
    return;
  }
  const std::size_t whole = na / lanes * lanes, length = whole + lanes;  // S by its columns, with zeros behind them
  scratch.column_sums.at_least(kColumns * length);
  T* const along = scratch.column_sums.data();
  for (int c = 0; c < kColumns; ++c)
    for (std::size_t m = 0; m < length; ++m) along[c * length + m] = m < na ? s[m * padded + c] : T{0};
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const auto end_of = [&, mask = hn::FirstN(d, na - whole)](const T* row) { return hn::MaskedLoad(mask, d, row + whole); };
#else  // MaskedLoad reads all there
  HWY_ALIGN T end[lanes] = {};
  const auto end_of = [&](const T* row) {
    std::memcpy(end, row + whole, (na - whole) * sizeof(T));
    return hn::Load(d, end);
  };
#endif
  const auto some = [&](auto count, std::size_t first) {
    constexpr int kCount = decltype(count)::value;
    V sum[kCount][kColumns];
    FD_UNROLL for (int r = 0; r < kCount; ++r) FD_UNROLL for (int c = 0; c < kColumns; ++c) sum[r][c] = hn::Zero(d);
    const T* const from = a + first * lda;
    for (std::size_t m = 0; m < whole; m += lanes) {
      V w[kColumns];
      FD_UNROLL for (int c = 0; c < kColumns; ++c) w[c] = hn::LoadU(d, along + c * length + m);
      FD_UNROLL for (int r = 0; r < kCount; ++r) {
        const V x = hn::LoadU(d, from + r * lda + m);
        FD_UNROLL for (int c = 0; c < kColumns; ++c) sum[r][c] = hn::MulAdd(x, w[c], sum[r][c]);
      }
    }
    FD_UNROLL for (int r = 0; r < kCount; ++r) {
      T sums[kColumns];
      const V x = end_of(from + r * lda);
      FD_UNROLL for (int c = 0; c < kColumns; ++c) sums[c] =
          hn::GetLane(hn::SumOfLanes(d, hn::MulAdd(x, hn::LoadU(d, along + c * length + whole), sum[r][c])));
      put(first + r, sums);
    }
  };
  std::size_t r = 0;
  for (; r + kRows <= rows; r += kRows) some(std::integral_constant<int, kRows>(), r);
  for (; r < rows; ++r) some(std::integral_constant<int, 1>(), r);
}

template <class T>
void combine(const T* a, std::size_t lda, std::size_t na, const T* s, std::size_t padded, T* y, std::size_t ldy, std::size_t ny,
             std::size_t rows, bool accumulate, Scratch<T>& scratch) {
  if (ny == 1) return combine_few<1>(a, lda, na, s, padded, y, ldy, rows, accumulate, scratch);
  if (ny == 2) return combine_few<2>(a, lda, na, s, padded, y, ldy, rows, accumulate, scratch);
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

template <bool kClamp, class T>
void exp2_array(const T* t, T* e, std::size_t count) {
  constexpr std::size_t size = exp2_group * lanes_of<T>();
  const std::size_t whole = count / size * size;
  exp2_vectors<kClamp>(t, T{1}, e, whole);
  HWY_ALIGN T last[size] = {};
  std::memcpy(last, t + whole, (count - whole) * sizeof(T));
  exp2_vectors<kClamp>(last, T{1}, last, size);
  std::memcpy(e + whole, last, (count - whole) * sizeof(T));
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
  static constexpr TileKernels<T> table = {lanes_of<T>(),
                                           Shape::wide * lanes_of<T>(),
                                           has_fixed_point<T> ? Numbers::fixed : Numbers::floats,
                                           Shape::narrow_most,
                                           tiles<T>,
                                           gram<T>,
                                           combine<T>,
                                           exp2_array<true, T>,
                                           exp2_array<false, T>,
                                           multiply_adds<T>,
                                           independent * lanes_of<T>()};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#endif
