// The verbs of tall blocks. Gram sums are in fp64, in an order that depends on the number of rows alone.
#include "arguments.hpp"
#include "normal.cuh"
#include "prims.cuh"

namespace fd::cuda {
namespace {

__device__ __forceinline__ int64_t thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

template <class T>
__device__ __forceinline__ T* row_of(const Window& w, int row) {
  return static_cast<T*>(w.data) + (size_t)row * w.stride;
}

// A^T B over a piece of rows, 32 x 32 columns a block, 2 x 2 a thread. blockIdx: columns of b, columns of a, piece.
template <class T>
__device__ __forceinline__ void gram(const GramArguments& p) {
  constexpr int Tile = 32, Depth = 16;
  __shared__ double a[Depth][Tile], b[Depth][Tile];
  const int first_b = blockIdx.x * Tile, first_a = blockIdx.y * Tile, tr = threadIdx.x / 16, tc = threadIdx.x % 16;
  const int first = blockIdx.z * p.piece, end = min(first + p.piece, p.a.rows);
  double sum[2][2] = {};
  for (int row = first; row < end; row += Depth) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Depth * Tile / 256; ++k) {
      const int e = threadIdx.x + 256 * k, i = row + e / Tile, c = e % Tile;
      a[e / Tile][c] = i < end && first_a + c < p.a.count ? static_cast<double>(row_of<const T>(p.a, i)[first_a + c]) : 0;
      b[e / Tile][c] = i < end && first_b + c < p.b.count ? static_cast<double>(row_of<const T>(p.b, i)[first_b + c]) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Depth; ++k)
#pragma unroll
      for (int u = 0; u < 2; ++u)
#pragma unroll
        for (int v = 0; v < 2; ++v) sum[u][v] = fma(a[k][tr + 16 * u], b[k][tc + 16 * v], sum[u][v]);
  }
#pragma unroll
  for (int u = 0; u < 2; ++u)
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const int ca = first_a + tr + 16 * u, cb = first_b + tc + 16 * v;
      if (ca < p.a.count && cb < p.b.count) p.partial[((size_t)blockIdx.z * p.a.count + ca) * p.b.count + cb] = sum[u][v];
    }
}

// Y = A S or Y += A S, in the panel's arithmetic, 32 rows and 32 columns a block.
template <class T>
__device__ __forceinline__ void combine(const CombineArguments& p) {
  constexpr int Tile = 32, Depth = 16;
  __shared__ T a[Tile][Depth + 1], s[Depth][Tile];
  const int first_row = blockIdx.x * Tile, first = blockIdx.y * Tile, tr = threadIdx.x / 16, tc = threadIdx.x % 16;
  T sum[2][2] = {};
  for (int k = 0; k < p.a.count; k += Depth) {
    __syncthreads();
#pragma unroll
    for (int half = 0; half < Tile * Depth / 256; ++half) {
      const int e = threadIdx.x + 256 * half, i = first_row + e / Depth, m = k + e % Depth;
      a[e / Depth][e % Depth] = i < p.a.rows && m < p.a.count ? row_of<const T>(p.a, i)[m] : T{0};
      const int c = first + e % Tile, n = k + e / Tile;
      s[e / Tile][e % Tile] = n < p.a.count && c < p.y.count ? static_cast<T>(p.s[(size_t)n * p.y.count + c]) : T{0};
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < Depth; ++m)
#pragma unroll
      for (int u = 0; u < 2; ++u)
#pragma unroll
        for (int v = 0; v < 2; ++v) sum[u][v] += a[tr + 16 * u][m] * s[m][tc + 16 * v];
  }
#pragma unroll
  for (int u = 0; u < 2; ++u)
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const int i = first_row + tr + 16 * u, c = first + tc + 16 * v;
      if (i >= p.y.rows || c >= p.y.count) continue;
      T& y = row_of<T>(p.y, i)[c];
      y = p.accumulate ? y + sum[u][v] : sum[u][v];
    }
}

template <class T>
__device__ __forceinline__ void copy(const CopyArguments& p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.to.rows * p.to.count) return;
  const auto [row, c] = place_of(e, p.to.count);
  T& y = row_of<T>(p.to, row)[c];
  const T value = row_of<const T>(p.from, row)[c];
  y = p.add ? y + value : value;
}

template <class T>
__device__ __forceinline__ void scale_rows(const ScaleArguments& p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.a.rows * p.a.count) return;
  const auto [row, c] = place_of(e, p.a.count);
  const T value = row_of<const T>(p.scale, row)[0] * row_of<const T>(p.a, row)[c];
  T& y = row_of<T>(p.y, row)[c];
  y = p.add ? y + value : value;
}

template <class T>
__device__ __forceinline__ void randomize(const RandomArguments& p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.a.rows * p.a.count) return;
  const auto [row, c] = place_of(e, p.a.count);
  row_of<T>(p.a, row)[c] = static_cast<T>(normal(p.seed, p.stream + c, p.first + row));
}

template <class T, bool Put>
__device__ __forceinline__ void move(const MoveArguments& p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.rows * p.a.count) return;
  const auto [row, c] = place_of(e, p.a.count);
  T& value = row_of<T>(p.a, p.first_row + row)[c];
  if (Put) value = static_cast<T>(p.values[e]);
  else p.values[e] = static_cast<double>(value);
}

}  // namespace
}  // namespace fd::cuda

using namespace fd::cuda;

extern "C" __global__ void __launch_bounds__(256) gram_f32(GramArguments p) { gram<float>(p); }
extern "C" __global__ void __launch_bounds__(256) gram_f64(GramArguments p) { gram<double>(p); }
extern "C" __global__ void gram_sum(GramSum p) {
  const int64_t e = thread();
  if (e >= p.size) return;
  double sum = 0;
#pragma unroll 4
  for (int piece = 0; piece < p.pieces; ++piece) sum += p.partial[(size_t)piece * p.size + e];
  p.sum[e] = sum;
}
extern "C" __global__ void __launch_bounds__(256) combine_f32(CombineArguments p) { combine<float>(p); }
extern "C" __global__ void __launch_bounds__(256) combine_f64(CombineArguments p) { combine<double>(p); }
extern "C" __global__ void copy_f32(CopyArguments p) { copy<float>(p); }
extern "C" __global__ void copy_f64(CopyArguments p) { copy<double>(p); }
extern "C" __global__ void scale_rows_f32(ScaleArguments p) { scale_rows<float>(p); }
extern "C" __global__ void scale_rows_f64(ScaleArguments p) { scale_rows<double>(p); }
extern "C" __global__ void randomize_f32(RandomArguments p) { randomize<float>(p); }
extern "C" __global__ void randomize_f64(RandomArguments p) { randomize<double>(p); }
extern "C" __global__ void put_f32(MoveArguments p) { move<float, true>(p); }
extern "C" __global__ void put_f64(MoveArguments p) { move<double, true>(p); }
extern "C" __global__ void take_f32(MoveArguments p) { move<float, false>(p); }
extern "C" __global__ void take_f64(MoveArguments p) { move<double, false>(p); }
