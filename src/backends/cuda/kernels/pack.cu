// What goes into a pass and what comes out of it: points and weights in the form that kernels take, sums of slots, results.
#include "arguments.hpp"
#include "exp2_double.cuh"
#include "prims.cuh"

namespace fd::cuda {
namespace {

__device__ __forceinline__ int64_t thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ uint16_t half_bits(float v) { return static_cast<uint16_t>(pack(v, 0.f)); }
__device__ __forceinline__ float half_value(uint16_t v) { return unpack(v).x; }

// v = high + 2^-11 low, each a 16-bit float
struct Halves {
  uint16_t high, low;
};
__device__ __forceinline__ Halves halves(double v, double grid) {
  const uint16_t high = half_bits(static_cast<float>(rint(v * grid) / grid));
  return {high, half_bits(static_cast<float>((v - half_value(high)) * 2048))};
}

template <class T>
__device__ __forceinline__ T* row_of(const Window& w, int row) {
  return static_cast<T*>(w.data) + (size_t)row * w.stride;
}

// The largest |w| of each column and piece of rows; a block has a piece.
template <class T>
__device__ __forceinline__ void largest_weights(const WeightScales& p) {
  constexpr int Rows = 256 / most_columns;
  __shared__ float found[Rows][most_columns];
  const int column = threadIdx.x % most_columns, lane_row = threadIdx.x / most_columns;
  const int piece = (p.weights.rows + p.pieces - 1) / p.pieces, first = blockIdx.x * piece, end = min(first + piece, p.weights.rows);
  float largest = 0;
  if (column < p.weights.count)
#pragma unroll 4
    for (int i = first + lane_row; i < end; i += Rows) largest = fmaxf(largest, fabsf(static_cast<float>(row_of<const T>(p.weights, i)[column])));
  found[lane_row][column] = largest;
  __syncthreads();
  if (lane_row != 0) return;
#pragma unroll
  for (int r = 1; r < Rows; ++r) largest = fmaxf(largest, found[r][column]);
  p.largest[blockIdx.x * most_columns + column] = largest;
}

// Weights by group of columns, with the factors of their points and the scales of their columns.
template <class T>
__device__ __forceinline__ double weight(const PackWeights& p, int row, int column, double factor) {
  if (row >= p.weights.rows || column >= p.weights.count) return 0;
  return static_cast<double>(row_of<const T>(p.weights, row)[column]) * factor * (sizeof(T) < sizeof(double) && p.scales ? p.scales[column] : 1.0);
}

template <class T, class S>
__device__ __forceinline__ void plain_weights(const PackWeights& p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.padded * p.width) return;
  const auto [row, column] = place_of(e, p.width);
  const bool scaled = sizeof(S) < sizeof(double) && p.factors && row < p.weights.rows;  // never doubles: those are the direct kernel's
  static_cast<S*>(p.packed)[e] = static_cast<S>(weight<T>(p, row, column, scaled ? p.factors[row] : 1.0));
}

template <class T>
__device__ __forceinline__ void finish(const Finish& p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.y.rows * p.y.count) return;
  const auto [row, column] = place_of(e, p.y.count);
  double factor = 1, scale = 1;
  if constexpr (sizeof(T) < sizeof(double)) {  // doubles are the direct kernel's, which needs none of this
    factor = p.factors ? p.factors[row] : 1.0, scale = p.scale;
    if (p.squares && column == 1) factor *= factor, scale *= scale;
    if (p.scales) scale *= p.scales[most_columns + column];
  }
  T& y = row_of<T>(p.y, row)[column];
  const double value = p.sums[(size_t)row * p.width + column] * factor * scale;
  y = static_cast<T>(p.accumulate ? static_cast<double>(y) + value : value);
}

// Whether a launch made this pair of blocks.
__device__ __forceinline__ bool made(const Blocks& b, int i, int j) {
  return !(b.symmetric && j < i) && !(b.share != 0 && ((i + j) & 1) != b.share - 1);
}

template <class S, bool Columns>
__device__ __forceinline__ void add_slots(const AddSlots& p) {
  const int64_t e = thread(), size = (int64_t)p.blocks.block * p.width;
  const int own = quotient(e, size), others = Columns ? p.count_i : p.count_j;
  if (own >= (Columns ? p.count_j : p.count_i)) return;
  const int inside = e - own * size;
  const int block = (Columns ? p.blocks.first_j : p.blocks.first_i) + own;
  const int64_t row = (int64_t)block * p.blocks.block + inside / p.width;
  if (row >= (Columns ? p.blocks.rows_j : p.blocks.rows_i)) return;
  double& sum = p.sums[(int64_t)block * size + inside];
  double value = sum;
#pragma unroll 4
  for (int o = 0; o < others; ++o) {
    const int i = Columns ? p.blocks.first_i + o : block, j = Columns ? block : p.blocks.first_j + o;
    const int64_t slot = Columns ? (int64_t)o * p.count_j + own : (int64_t)own * p.count_j + o;
    if (made(p.blocks, i, j)) value += static_cast<double>(static_cast<const S*>(p.slots)[slot * size + inside]);
  }
  sum = value;
}

}  // namespace
}  // namespace fd::cuda

using namespace fd::cuda;

// Points for the fused kernel, a warp a row. Norms are those of the points as they are packed; rows past the last are so far away that nothing is
// left of their entries.
extern "C" __global__ void pack_points(PackPoints p) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= p.padded) return;
  double square = 0;
#pragma unroll 1
  for (int c = lane; c < p.steps * step_columns; c += 32) {
    const bool real = row < p.rows && c < p.dimension;
    const Halves x = halves(real ? p.points[(size_t)row * p.dimension + c] * p.scale + p.shifts[c] : 0.0, p.grid);
    uint16_t* to = p.packed + ((size_t)row * p.steps + c / step_columns) * (16 * p.parts) + c % step_columns;
    to[0] = x.high;
    double value = half_value(x.high);
    if (p.parts == 2) to[16] = x.low, value += half_value(x.low) * 0x1p-11;
    square = fma(value, value, square);
  }
  for (int other = 16; other >= 1; other /= 2) square += __shfl_xor_sync(~0u, square, other);
  if (lane != 0) return;
  const double whole = rint(square / 2);
  p.norms[row] = row < p.rows ? static_cast<float>(whole) : 10000.f;
  p.factors[row] = exp2_double(whole - square / 2);
}

#if __CUDA_ARCH__ < 1200  // shapes.hpp: multiplies_doubles
// A warp has a row.
extern "C" __global__ void half_squares(HalfSquares p) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= p.rows) return;
  double square = 0;
#pragma unroll 1
  for (int c = lane; c < p.dimension; c += 32) {
    const double value = p.points[(size_t)row * p.dimension + c];
    square = fma(value, value, square);
  }
  for (int other = 16; other >= 1; other /= 2) square += __shfl_xor_sync(~0u, square, other);
  if (lane == 0) p.halves[row] = square / 2;
}
#endif

extern "C" __global__ void pack_floats(PackFloats p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.rows * p.dimension) return;
  const double x = fmin(fmax(p.points[e] * p.scale, -3e38), 3e38);
  const float high = static_cast<float>(x);
  reinterpret_cast<float2*>(p.parts)[e] = make_float2(high, static_cast<float>(x - high));
}

extern "C" __global__ void largest_weights_f32(WeightScales p) { largest_weights<float>(p); }

extern "C" __global__ void weight_scales(WeightScales p) {
  const int column = threadIdx.x;
  float largest = 0;
#pragma unroll 4
  for (int piece = 0; piece < p.pieces; ++piece) largest = fmaxf(largest, p.largest[piece * most_columns + column]);
  // 2^e > largest; numbers below 2^-126 count as that
  const int e = largest > 0 && largest < 3e38f ? max(static_cast<int>(__float_as_uint(largest) >> 23) - 126, -125) : 0;
  p.scales[column] = power_of_two(p.exponent - e);
  p.scales[most_columns + column] = power_of_two(e - p.exponent);
}

// Groups of 8 columns: 8 high and, where there are two parts, 8 low ones a row.
extern "C" __global__ void pack_weights_halves(PackWeights p) {
  const int64_t e = thread();
  if (e >= (int64_t)p.padded * p.width) return;
  const auto [row, column] = place_of(e, p.width);
  const Halves w = halves(weight<float>(p, row, column, row < p.weights.rows ? p.factors[row] : 0.0), 0x1p24);
  uint16_t* to = static_cast<uint16_t*>(p.packed) + ((size_t)row * (p.width / 8) + column / 8) * (8 * p.parts) + column % 8;
  to[0] = w.high;
  if (p.parts == 2) to[8] = w.low;
}
extern "C" __global__ void pack_weights_f32(PackWeights p) { plain_weights<float, float>(p); }
extern "C" __global__ void pack_weights_f64(PackWeights p) { plain_weights<double, double>(p); }

// The weights of mass: a point's factor, and its square.
extern "C" __global__ void pack_weights_mass(PackWeights p) {
  const int64_t row = thread();
  if (row >= p.padded) return;
  const double factor = row < p.weights.rows ? p.factors[row] : 0.0;
  reinterpret_cast<float2*>(p.packed)[row] = make_float2(static_cast<float>(factor), static_cast<float>(factor * factor));
}

extern "C" __global__ void add_rows_f32(AddSlots p) { add_slots<float, false>(p); }
extern "C" __global__ void add_rows_f64(AddSlots p) { add_slots<double, false>(p); }
extern "C" __global__ void add_columns_f32(AddSlots p) { add_slots<float, true>(p); }
extern "C" __global__ void add_columns_f64(AddSlots p) { add_slots<double, true>(p); }

extern "C" __global__ void finish_f32(Finish p) { finish<float>(p); }
extern "C" __global__ void finish_f64(Finish p) { finish<double>(p); }
