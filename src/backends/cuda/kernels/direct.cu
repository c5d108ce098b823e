// Y = K W and Y' = K^T W' from one evaluation of the entries K_ij = 2^(-a |x_i - x_j|^2), from differences of coordinates: nothing cancels, wherever the
// points are. In fp64, and in fp32 with coordinates in two parts; for the fp64 promise, and where norms are too large for the fused kernel.
//
// A thread block owns a pair of blocks of rows (I, J) and walks over tiles of 64 x 64: exponents, 4 x 4 a thread, 16 coordinates at a time; entries to
// shared memory; then sums over columns and over rows, four threads a sum.
#include "arguments.hpp"
#include "exp2_double.cuh"
#include "prims.cuh"

namespace fd::cuda {
namespace {

constexpr int Threads = 256, Tile = direct_tile, Depth = 16, MostWidth = direct_columns;

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
struct Memory {
  typename Coordinate<T>::Stored rows[Depth][Tile + 1], columns[Depth][Tile + 1];
  T entries[Tile][Tile + 1];
  T weights_i[Tile][MostWidth], weights_j[Tile][MostWidth];
};

static_assert(sizeof(Memory<float>) == direct_shared_bytes(4) && sizeof(Memory<double>) == direct_shared_bytes(8));

// 64 rows of 16 coordinates; rows that are not there and coordinates past the last are zero.
template <class Stored>
__device__ __forceinline__ void fetch(Stored (&to)[Depth][Tile + 1], const Stored* points, int first, int count, int coordinate, int dimension) {
#pragma unroll
  for (int k = 0; k < Tile * Depth / Threads; ++k) {
    const int e = threadIdx.x + k * Threads, row = e / Depth, c = e % Depth;
    Stored value{};
    if (first + row < count && coordinate + c < dimension) value = points[(size_t)(first + row) * dimension + coordinate + c];
    to[c][row] = value;
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
template <class T, bool Squares, bool Columns, int Width>
__device__ __forceinline__ void quarter_sums(T (&sum)[Width], const Memory<T>& m, const T (&weights)[Tile][MostWidth], int width) {
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

template <class T, bool Squares>
__device__ __forceinline__ void direct(const DirectArguments& p) {
  using Stored = typename Coordinate<T>::Stored;
  extern __shared__ __align__(16) unsigned char memory[];
  Memory<T>& m = *reinterpret_cast<Memory<T>*>(memory);
  const Blocks& blocks = p.blocks;
  const int block_i = blocks.first_i + blockIdx.y, block_j = blocks.first_j + blockIdx.x;
  const bool diagonal = blocks.symmetric && block_i == block_j;
  if (blocks.symmetric && block_j < block_i) return;
  if (blocks.share != 0 && ((block_i + block_j) & 1) != blocks.share - 1) return;
  const int row_end = min((block_i + 1) * blocks.block, blocks.rows_i), column_end = min((block_j + 1) * blocks.block, blocks.rows_j);
  const size_t slot = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blocks.block * p.width;
  T* row_sums = static_cast<T*>(p.row_sums) + slot;
  T* column_sums = static_cast<T*>(p.column_sums) + slot;
  const int tr = threadIdx.x / 16, tc = threadIdx.x % 16, own = threadIdx.x / 4, quarter = threadIdx.x % 4;
  const T exponent = static_cast<T>(p.exponent);
  constexpr int Width = Squares ? 2 : MostWidth;  // of which there are p.width, all where there are squares

  for (int row = block_i * blocks.block; row < row_end; row += Tile) {
    T y[Width] = {};
    int column = diagonal ? row : block_j * blocks.block;
    do {
      const bool both = blocks.two_sided && !(diagonal && column == row);
      T square[4][4] = {}, lost[4][4] = {};
      int c = 0;
      do {
        __syncthreads();
        fetch(m.rows, static_cast<const Stored*>(p.points_i), row, p.count_i, c, p.dimension);
        fetch(m.columns, static_cast<const Stored*>(p.points_j), column, p.count_j, c, p.dimension);
        if (c == 0 && !Squares) {
          fetch_weights(m.weights_j, p.weights_j, column, p.count_j, p.width);
          if (both) fetch_weights(m.weights_i, p.weights_i, row, p.count_i, p.width);
        }
        __syncthreads();
        T part[4][4] = {};
#pragma unroll
        for (int k = 0; k < Depth; ++k) {
          Stored x[4], z[4];
#pragma unroll
          for (int e = 0; e < 4; ++e) x[e] = m.rows[k][tr + 16 * e], z[e] = m.columns[k][tc + 16 * e];
#pragma unroll
          for (int a = 0; a < 4; ++a)
#pragma unroll
            for (int b = 0; b < 4; ++b) {
              const T d = Coordinate<T>::difference(x[a], z[b]);
              part[a][b] += d * d;
            }
        }
        // parts are added up so that what is lost in one addition is made good in the next (Kahan): there may be hundreds of them
#pragma unroll
        for (int a = 0; a < 4; ++a)
#pragma unroll
          for (int b = 0; b < 4; ++b) {
            const T more = part[a][b] - lost[a][b], sum = square[a][b] + more;
            lost[a][b] = sum < T(1e30) ? (sum - square[a][b]) - more : T{0};
            square[a][b] = sum;
          }
      } while ((c += Depth) < p.dimension);
#pragma unroll
      for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b) {
          const int i = row + tr + 16 * a, j = column + tc + 16 * b;
          const bool real = i < p.count_i && j < p.count_j && !(diagonal && i == j);
          m.entries[tr + 16 * a][tc + 16 * b] = real ? Coordinate<T>::entry(exponent * square[a][b]) : T{0};
        }
      __syncthreads();
      T sum[Width] = {};
      quarter_sums<T, Squares, false>(sum, m, m.weights_j, p.width);
#pragma unroll
      for (int c = 0; c < Width; ++c) y[c] += sum[c];
      if (both) {
        T z[Width] = {};
        quarter_sums<T, Squares, true>(z, m, m.weights_i, p.width);
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

#define FD_DIRECT(NAME, T, SQUARES) \
  extern "C" __global__ void __launch_bounds__(256, 1) NAME(fd::cuda::DirectArguments p) { fd::cuda::direct<T, SQUARES>(p); }
FD_DIRECT(direct_f32, float, false)
FD_DIRECT(direct_f32_mass, float, true)
FD_DIRECT(direct_f64, double, false)
FD_DIRECT(direct_f64_mass, double, true)
