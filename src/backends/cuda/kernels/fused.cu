// Y = K W and Y' = K^T W' from one evaluation of the entries K_ij = 2^(x_i.x_j - n_i - n_j), by tensor cores.
//
// Main loop (this file) x sums (sums.cuh) x scheduler (which blocks a launch makes: arguments.hpp). A thread block owns a pair of blocks of rows
// (I, J). It walks over I in panels of 128 rows, 32 a warp, and over J in tiles of 32 columns, coordinates 32 at a time: what the next step needs is on
// its way into shared memory by cp.async while this one is multiplied.
//
// Exponents. With two parts points are sums of two 16-bit floats, x = h + 2^-11 l, h a multiple of 2^-9: products h.h are multiples of 2^-18 and their
// sums, below 2^6, exact however a tensor core cuts. h.l, l.h and where it counts l.l are summed apart. n are whole parts of |x|^2/2, so that what the sum
// starts with is exact as well; what is left of the norms is in weights and sums. With one part points are multiples of a step that accuracy.hpp chooses,
// there is one product, and norms are added when it is done.
#include "arguments.hpp"
#include "prims.cuh"
#include "sums.cuh"

namespace fd::cuda {
namespace {

constexpr int Threads = 128, ChunkBytes = 128;  // of a row: two steps of 16 coordinates, high and low, or four of one part
constexpr int RowsChunk = panel_rows * ChunkBytes, TileChunk = tile_columns * ChunkBytes;

// Where 16 bytes of a row lie: eight rows at the same place of a row are in different banks.
__device__ __forceinline__ uint32_t swizzled(int row, int piece) { return row * ChunkBytes + 16 * (piece ^ (row & 7)); }

// `Rows` rows of chunk `chunk` on their way to shared memory.
template <int Parts, int Rows>
__device__ __forceinline__ void fetch(uint32_t to, const uint16_t* points, int first, int chunk, int steps) {
  const int pieces = min(8, (steps * Parts - 4 * chunk) * 2);
#pragma unroll 1  // addresses of all rounds at once would take registers that products need
  for (int e = here(threadIdx.x); e < Rows * 8; e += Threads) {
    const int row = e / 8, piece = e % 8;
    if (piece < pieces) copy16(to + swizzled(row, piece), points + (size_t)(first + row) * steps * (16 * Parts) + chunk * 64 + piece * 8);
  }
}

// For 32 rows and 32 columns, one step of 16 coordinates.
template <int Parts>
struct Step;

// c += h.h, small += h.l + l.h (+ 2^-11 l.l: not for few columns, so never left out beyond the first 16 of a chunk)
template <>
struct Step<2> {
  static __device__ __forceinline__ void multiply(float (&c)[2][4][4], float (&small)[2][4][4], uint32_t rows, uint32_t columns, int step,
                                                  int low_low) {
    const int lane = here(threadIdx.x % 32), warp = threadIdx.x / 32;
    uint32_t high[2][4], low[2][4], lowest[2][4];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const int row = warp * 32 + m * 16 + lane % 16;
      load4(high[m], rows + swizzled(row, 4 * step + lane / 16));
      load4(low[m], rows + swizzled(row, 4 * step + 2 + lane / 16));
#pragma unroll
      for (int e = 0; e < 4; ++e) lowest[m][e] = multiply_halves(low[m][e], 0x10001000u);  // 2^-11
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      uint32_t b[4];  // high, low; two halves of k each
      load4(b, columns + swizzled(8 * n + lane % 8, 4 * step + lane / 8));
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        mma(c[m][n], high[m], b[0], b[1]);
        mma(small[m][n], high[m], b[2], b[3]);
        mma(small[m][n], low[m], b[0], b[1]);
        if (low_low) mma(small[m][n], lowest[m], b[2], b[3]);
      }
    }
  }
};

// c += x.y
template <>
struct Step<1> {
  static __device__ __forceinline__ void multiply(float (&c)[2][4][4], float (&)[2][4][4], uint32_t rows, uint32_t columns, int step, int) {
    const int lane = here(threadIdx.x % 32), warp = threadIdx.x / 32;
    uint32_t a[2][4];
#pragma unroll
    for (int m = 0; m < 2; ++m) load4(a[m], rows + swizzled(warp * 32 + m * 16 + lane % 16, 2 * step + lane / 16));
#pragma unroll
    for (int n = 0; n < 4; n += 2) {
      uint32_t b[4];  // two halves of k for 8 columns, and for the next 8
      load4(b, columns + swizzled(8 * n + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        mma(c[m][n], a[m], b[0], b[1]);
        mma(c[m][n + 1], a[m], b[2], b[3]);
      }
    }
  }
};

template <int Parts, class Sums>
__device__ __forceinline__ void fused(const FusedArguments& p) {
  const Blocks& blocks = p.blocks;
  const int block_i = blocks.first_i + blockIdx.y, block_j = blocks.first_j + blockIdx.x;
  const bool diagonal = blocks.symmetric && block_i == block_j;
  if (blocks.symmetric && block_j < block_i) return;
  if (blocks.share != 0 && ((block_i + block_j) & 1) != blocks.share - 1) return;

  // rows: all chunks where there are at most two, else two in turn; columns: two in turn; then what sums need of a tile, two in turn
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr int StepsOfChunk = 4 / Parts;
  const int chunks = (p.steps + StepsOfChunk - 1) / StepsOfChunk;
  const bool resident = chunks <= 2;
  const uint32_t rows = shared_address(memory), columns = rows + min(chunks, 2) * RowsChunk;
  float* norms = reinterpret_cast<float*>(memory + min(chunks, 2) * RowsChunk + 2 * TileChunk);
  unsigned char* weights = reinterpret_cast<unsigned char*>(norms + 2 * tile_columns);
  unsigned char* panel_weights = weights + 2 * Sums::TileBytes;
  float* across = reinterpret_cast<float*>(panel_weights + Sums::PanelBytes);

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const int row_end = min((block_i + 1) * blocks.block, blocks.rows_i), column_end = min((block_j + 1) * blocks.block, blocks.rows_j);
  const size_t slot = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blocks.block * Sums::Width;
  float* row_sums = p.row_sums + slot;
  float* column_sums = p.column_sums + slot;

  for (int row = block_i * blocks.block; row < row_end; row += panel_rows) {
    Sums sums(p.i.weights, row + warp * 32);
    float norm[2][2];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r) norm[m][r] = Sums::Exponent - p.i.norms[row + warp * 32 + 16 * m + 8 * r + g];

    const auto fetch_stage = [&](int column, int chunk, int stage) {
      if (!resident) fetch<Parts, panel_rows>(rows + stage * RowsChunk, p.i.points, row, chunk, p.steps);
      fetch<Parts, tile_columns>(columns + stage * TileChunk, p.j.points, column, chunk, p.steps);
      if (chunk == 0) {
        const int turn = column / tile_columns % 2;
        if (threadIdx.x < tile_columns / 4) copy16(shared_address(norms + turn * tile_columns + 4 * threadIdx.x), p.j.norms + column + 4 * threadIdx.x);
        Sums::fetch(shared_address(weights + turn * Sums::TileBytes), p.j.weights, column);
      }
      commit();
    };

    if constexpr (Sums::OneSided) __syncthreads();  // nobody reads what the last panel left; sums over rows end with a barrier of their own
    int column = diagonal ? row : block_j * blocks.block, stage = 0;
    if (resident)
      for (int chunk = 0; chunk < chunks; ++chunk) fetch<Parts, panel_rows>(rows + chunk * RowsChunk, p.i.points, row, chunk, p.steps);
    Sums::fetch_panel(shared_address(panel_weights), p.i.weights, row);
    fetch_stage(column, 0, 0);
    do {
      const int turn = column / tile_columns % 2;
      const auto norm_pair = [&](int n) { return *reinterpret_cast<const float2*>(norms + turn * tile_columns + 8 * n + 2 * q); };
      float c[2][4][4], small[2][4][4];
      for (int chunk = 0; chunk < chunks; ++chunk, stage ^= 1) {
        wait<0>();
        __syncthreads();
        if (chunk + 1 < chunks) fetch_stage(column, chunk + 1, stage ^ 1);
        else if (column + tile_columns < column_end) fetch_stage(column + tile_columns, 0, stage ^ 1);
        if (chunk == 0) {
#pragma unroll
          for (int n = 0; n < 4; ++n) {
            const float2 nj = Parts == 2 ? norm_pair(n) : float2{};
#pragma unroll
            for (int m = 0; m < 2; ++m)
#pragma unroll
              for (int e = 0; e < 4; ++e) c[m][n][e] = Parts == 2 ? norm[m][e / 2] - (e % 2 ? nj.y : nj.x) : 0.f, small[m][n][e] = 0;
          }
        }
        const uint32_t a = rows + (resident ? chunk : stage) * RowsChunk, b = columns + stage * TileChunk;
#pragma unroll
        for (int step = 0; step < StepsOfChunk; ++step)
          if (step == 0 || StepsOfChunk * chunk + step < p.steps) Step<Parts>::multiply(c, small, a, b, step, step > 0 || p.low_low != 0);
      }
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const float2 nj = Parts == 1 ? norm_pair(n) : float2{};
#pragma unroll
        for (int m = 0; m < 2; ++m)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            c[m][n][e] = exp2(Parts == 1 ? c[m][n][e] + (norm[m][e / 2] - (e % 2 ? nj.y : nj.x)) : fmaf(small[m][n][e], 0x1p-11f, c[m][n][e]));
      }

      const unsigned char* tile_weights = weights + turn * Sums::TileBytes;
      if (blocks.two_sided && !(diagonal && column < row + panel_rows)) {
        sums.template add<true>(c, panel_weights, tile_weights, across);
        __syncthreads();
        Sums::flush(across, column_sums + (size_t)(column - block_j * blocks.block) * Sums::Width);
      } else {
        if (diagonal) {
#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int n = 0; n < 4; ++n)
#pragma unroll
              for (int e = 0; e < 4; ++e)
                if (row + warp * 32 + 16 * m + 8 * (e / 2) + g == column + 8 * n + 2 * q + e % 2) c[m][n][e] = 0;
        }
        sums.template add<false>(c, panel_weights, tile_weights, across);
      }
    } while ((column += tile_columns) < column_end);
    sums.store(row_sums + (size_t)(row - block_i * blocks.block + warp * 32) * Sums::Width);
  }
}

}  // namespace
}  // namespace fd::cuda

// fused_<parts of points>_<columns>: with `_rough` entries and weights of one part
#define FD_FUSED(NAME, BLOCKS, ...) \
  extern "C" __global__ void __launch_bounds__(128, BLOCKS) fused_##NAME(fd::cuda::FusedArguments p) { fd::cuda::fused<__VA_ARGS__>(p); }
#define FD_FUSED_PARTS(PARTS)                                    \
  FD_FUSED(PARTS##_1, 3, PARTS, fd::cuda::Few<1, false>)         \
  FD_FUSED(PARTS##_2, 3, PARTS, fd::cuda::Few<2, false>)         \
  FD_FUSED(PARTS##_4, 3, PARTS, fd::cuda::Few<4, false>)         \
  FD_FUSED(PARTS##_8, 3, PARTS, fd::cuda::Many<1, 2>)            \
  FD_FUSED(PARTS##_16, 2, PARTS, fd::cuda::Many<2, 2>)           \
  FD_FUSED(PARTS##_8_rough, 3, PARTS, fd::cuda::Many<1, 1>)      \
  FD_FUSED(PARTS##_16_rough, 3, PARTS, fd::cuda::Many<2, 1>)
FD_FUSED_PARTS(2)
FD_FUSED_PARTS(1)
FD_FUSED(2_mass, 3, 2, fd::cuda::Few<2, true>)
