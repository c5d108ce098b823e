// Y = K W and Y' = K^T W' from one evaluation of the entries K_ij = 2^(-a |x_i - x_j|^2). From differences of coordinates nothing cancels, wherever the points
// are: in fp32 with coordinates in two parts, where norms are too large for the fused kernel, and in fp64. From products of coordinates, in fp64 by
// tensor cores, where the bounds on norms allow it (accuracy.hpp) and the chip has such cores.
//
// A thread block owns a pair of blocks of rows (I, J) and walks over tiles of 64 x 64: exponents, 16 a thread, 16 coordinates at a time; entries to
// shared memory; then sums over columns and over rows, four threads a sum.
#include "arguments.hpp"
#include "exp2_double.cuh"
#include "prims.cuh"

namespace fd::cuda {
namespace {

constexpr int Threads = 256, Tile = direct_tile, Depth = 16, MostWidth = direct_columns;

// part is added to sum, and what is lost in that addition is made good in the next (Kahan): there may be hundreds of them
template <class T, int Rows, int Columns>
__device__ __forceinline__ void add_up(T (&sums)[Rows][Columns], T (&lost)[Rows][Columns], const T (&part)[Rows][Columns]) {
#pragma unroll
  for (int a = 0; a < Rows; ++a)
#pragma unroll
    for (int b = 0; b < Columns; ++b) {
      const T more = part[a][b] - lost[a][b], sum = sums[a][b] + more;
      lost[a][b] = sum < T(1e30) ? (sum - sums[a][b]) - more : T{0};
      sums[a][b] = sum;
    }
}

template <class Loop>
struct Memory {
  typename Loop::Stored rows[Depth][Loop::Stride], columns[Depth][Loop::Stride];
  typename Loop::Value entries[Tile][Tile + 4], weights_i[Tile][MostWidth], weights_j[Tile][MostWidth];
};

// A main loop: exponents of 64 x 64 entries from 16 coordinates after 16; a thread has rows row(a) and columns column(b) of them.
template <class T>
struct Coordinate;
template <>
struct Coordinate<double> {
  using Stored = double;
  static __device__ __forceinline__ double difference(Stored x, Stored y) { return x - y; }
  static __device__ __forceinline__ double entry(double t) { return exp2_double(t); }
};
template <>
struct Coordinate<float> {
  using Stored = float2;  // x rounded, and what is left
  static __device__ __forceinline__ float difference(Stored x, Stored y) { return (x.x - y.x) + (x.y - y.y); }
  static __device__ __forceinline__ float entry(float t) { return exp2(t); }
};

template <class T>
struct Differences {
  using Value = T;
  using Stored = typename Coordinate<T>::Stored;
  static constexpr int Rows = 4, Columns = 4, Stride = Tile + 1;
  static __device__ __forceinline__ int place(int, int row) { return row; }
  static __device__ __forceinline__ int row(int a) { return threadIdx.x / 16 + 16 * a; }
  static __device__ __forceinline__ int column(int b) { return threadIdx.x % 16 + 16 * b; }

  T squares[4][4] = {}, lost[4][4] = {};
  __device__ __forceinline__ void step(const Memory<Differences>& m) {
    T part[4][4] = {};
#pragma unroll
    for (int k = 0; k < Depth; ++k) {
      Stored x[4], z[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) x[e] = m.rows[k][row(e)], z[e] = m.columns[k][column(e)];
#pragma unroll
      for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          const T d = Coordinate<T>::difference(x[a], z[b]);
          part[a][b] += d * d;
        }
    }
    add_up(squares, lost, part);
  }
  __device__ __forceinline__ T exponent(const DirectArguments& p, int a, int b, int, int) const {
    return static_cast<T>(p.exponent) * squares[a][b];
  }
};

#if __CUDA_ARCH__ < 1200  // shapes.hpp: multiplies_doubles
// Each of 8 warps has 16 x 32 entries, 2 x 4 instructions; a lane of each two entries of row lane / 4.
struct Products {
  using Value = double;
  using Stored = double;
  static constexpr int Rows = 2, Columns = 8, Stride = Tile;
  // without bank conflicts: 16 coordinates of a row are stored at once, and 4 coordinates of 4 rows loaded
  static __device__ __forceinline__ int place(int c, int row) { return row ^ (4 * (c % 4) + c / 4); }
  static __device__ __forceinline__ int row(int a) { return threadIdx.x / 64 * 16 + threadIdx.x % 32 / 4 + 8 * a; }
  static __device__ __forceinline__ int column(int b) { return threadIdx.x / 32 % 2 * 32 + threadIdx.x % 4 * 2 + 8 * (b / 2) + b % 2; }

  double products[2][8] = {}, lost[2][8] = {};
  __device__ __forceinline__ void step(const Memory<Products>& m) {
    double part[2][8] = {};
    const int from = threadIdx.x / 32 % 2 * 32 + threadIdx.x % 32 / 4;
#pragma unroll
    for (int k = 0; k < Depth; k += 4) {
      const int c = k + threadIdx.x % 4;
      double x[2], z[4];
#pragma unroll
      for (int a = 0; a < 2; ++a) x[a] = m.rows[c][place(c, row(a))];
#pragma unroll
      for (int b = 0; b < 4; ++b) z[b] = m.columns[c][place(c, from + 8 * b)];
#pragma unroll
      for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b) mma(part[a][2 * b], part[a][2 * b + 1], x[a], z[b]);
    }
    add_up(products, lost, part);
  }
  __device__ __forceinline__ double exponent(const DirectArguments& p, int a, int b, int i, int j) const {
    return -2 * p.exponent * ((products[a][b] - p.halves_i[i]) - p.halves_j[j]);
  }
};

static_assert(sizeof(Memory<Products>) <= direct_shared_bytes(8));
#endif
static_assert(sizeof(Memory<Differences<float>>) == direct_shared_bytes(4) && sizeof(Memory<Differences<double>>) == direct_shared_bytes(8));

// 64 rows of 16 coordinates; rows that are not there and coordinates past the last are zero.
template <class Loop>
__device__ __forceinline__ void fetch(typename Loop::Stored (&to)[Depth][Loop::Stride], const void* points, int first, int count, int coordinate,
                                      int dimension) {
  using Stored = typename Loop::Stored;
#pragma unroll
  for (int k = 0; k < Tile * Depth / Threads; ++k) {
    const int e = threadIdx.x + k * Threads, row = e / Depth, c = e % Depth;
    Stored value{};
    if (first + row < count && coordinate + c < dimension)
      value = static_cast<const Stored*>(points)[(size_t)(first + row) * dimension + coordinate + c];
    to[c][Loop::place(c, row)] = value;
  }
}

// Of 64 rows; columns past the last are zero.
template <class T>
__device__ __forceinline__ void fetch_weights(T (&to)[Tile][MostWidth], const void* weights, int first, int count, int width) {
#pragma unroll
  for (int k = 0; k < Tile * MostWidth / Threads; ++k) {
    const int e = threadIdx.x + k * Threads, row = e / MostWidth, c = e % MostWidth;
    to[row][c] = first + row < count && c < width ? static_cast<const T*>(weights)[(size_t)(first + row) * width + c] : T{0};
  }
}

// Sums over the entries that thread / 4 has a row (or a column) of, a quarter each, added up in the order of the quarters' lanes.
template <class Loop, bool Squares, bool Columns, int Width, class T>
__device__ __forceinline__ void quarter_sums(T (&sum)[Width], const Memory<Loop>& m, const T (&weights)[Tile][MostWidth], int width) {
  const int own = threadIdx.x / 4, quarter = threadIdx.x % 4;
#pragma unroll 4
  for (int o = quarter; o < Tile; o += 4) {
    const T e = Columns ? m.entries[o][own] : m.entries[own][o];
    if (Squares) sum[0] += e, sum[1] += e * e;
    else {
#pragma unroll
      for (int c = 0; c < Width; ++c)
        if (c < width) sum[c] += e * weights[o][c];
    }
  }
}

template <class Loop, bool Squares>
__device__ __forceinline__ void direct(const DirectArguments& p) {
  using T = typename Loop::Value;
  extern __shared__ __align__(16) unsigned char memory[];
  Memory<Loop>& m = *reinterpret_cast<Memory<Loop>*>(memory);
  const Blocks& blocks = p.blocks;
  const int block_i = blocks.first_i + blockIdx.y, block_j = blocks.first_j + blockIdx.x;
  const bool diagonal = blocks.symmetric && block_i == block_j;
  if (blocks.symmetric && block_j < block_i) return;
  if (blocks.share != 0 && ((block_i + block_j) & 1) != blocks.share - 1) return;
  const int row_end = min((block_i + 1) * blocks.block, blocks.rows_i), column_end = min((block_j + 1) * blocks.block, blocks.rows_j);
  const size_t slot = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blocks.block * p.width;
  T* row_sums = static_cast<T*>(p.row_sums) + slot;
  T* column_sums = static_cast<T*>(p.column_sums) + slot;
  const int own = threadIdx.x / 4, quarter = threadIdx.x % 4;
  constexpr int Width = Squares ? 2 : MostWidth;  // of which there are p.width, all where there are squares

  for (int row = block_i * blocks.block; row < row_end; row += Tile) {
    T y[Width] = {};
    int column = diagonal ? row : block_j * blocks.block;
    do {
      const bool both = blocks.two_sided && !(diagonal && column == row);
      Loop loop;
      int c = 0;
      do {
        __syncthreads();
        fetch<Loop>(m.rows, p.points_i, row, p.count_i, c, p.dimension);
        fetch<Loop>(m.columns, p.points_j, column, p.count_j, c, p.dimension);
        if (c == 0 && !Squares) {
          fetch_weights(m.weights_j, p.weights_j, column, p.count_j, p.width);
          if (both) fetch_weights(m.weights_i, p.weights_i, row, p.count_i, p.width);
        }
        __syncthreads();
        loop.step(m);
      } while ((c += Depth) < p.dimension);
#pragma unroll
      for (int a = 0; a < Loop::Rows; ++a)
#pragma unroll
        for (int b = 0; b < Loop::Columns; ++b) {
          const int i = row + Loop::row(a), j = column + Loop::column(b);
          const bool real = i < p.count_i && j < p.count_j && !(diagonal && i == j);
          m.entries[Loop::row(a)][Loop::column(b)] = real ? Coordinate<T>::entry(loop.exponent(p, a, b, i, j)) : T{0};
        }
      __syncthreads();
      T sum[Width] = {};
      quarter_sums<Loop, Squares, false>(sum, m, m.weights_j, p.width);
#pragma unroll
      for (int c = 0; c < Width; ++c) y[c] += sum[c];
      if (both) {
        T z[Width] = {};
        quarter_sums<Loop, Squares, true>(z, m, m.weights_i, p.width);
#pragma unroll
        for (int c = 0; c < Width; ++c) {
          if (!Squares && c >= p.width) break;
          z[c] += __shfl_xor_sync(~0u, z[c], 1);
          z[c] += __shfl_xor_sync(~0u, z[c], 2);
          if (quarter == c % 4) add(column_sums + (size_t)(column - block_j * blocks.block + own) * p.width + c, z[c]);
        }
      }
    } while ((column += Tile) < column_end);
#pragma unroll
    for (int c = 0; c < Width; ++c) {
      if (!Squares && c >= p.width) break;
      y[c] += __shfl_xor_sync(~0u, y[c], 1);
      y[c] += __shfl_xor_sync(~0u, y[c], 2);
      if (quarter == c % 4) row_sums[(size_t)(row - block_i * blocks.block + own) * p.width + c] = y[c];
    }
  }
}

}  // namespace
}  // namespace fd::cuda

#define FD_DIRECT(NAME, LOOP, SQUARES) \
  extern "C" __global__ void __launch_bounds__(256, 1) NAME(fd::cuda::DirectArguments p) { fd::cuda::direct<fd::cuda::LOOP, SQUARES>(p); }
FD_DIRECT(direct_f32, Differences<float>, false)
FD_DIRECT(direct_f32_mass, Differences<float>, true)
FD_DIRECT(direct_f64, Differences<double>, false)
FD_DIRECT(direct_f64_mass, Differences<double>, true)
#if __CUDA_ARCH__ < 1200
FD_DIRECT(products_f64, Products, false)
FD_DIRECT(products_f64_mass, Products, true)
#endif
