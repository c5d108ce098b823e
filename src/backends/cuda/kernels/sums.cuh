// What becomes of a tile's entries: sums over its columns, kept in registers, and over its rows, added across the warps of a block in shared memory
// and then in the workspace. `c[m][n][e]` of a lane is the entry of row 16 m + 8 (e/2) + lane/4 and column 8 n + 2 (lane%4) + e%2.
//
// Entries are 2^Exponent times those of the kernel.
#pragma once
#include "arguments.hpp"
#include "prims.cuh"

namespace fd::cuda {
namespace {

constexpr int WarpsOfBlock = 4;

// Up to four columns of weights, in fp32, by the cores. With `Squares` there are two columns, and the second sums squares of entries.
template <int B, bool Squares>
struct Few {
  static constexpr int Width = B, TileBytes = tile_columns * B * 4, PanelBytes = 0;
  static constexpr float Exponent = 14;
  static constexpr bool OneSided = !Squares;  // products of one side are made too
  float y[2][2][B], wi[2][2][B];

  __device__ __forceinline__ Few(const void* weights, int row) {
    const int g = threadIdx.x % 32 / 4;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int b = 0; b < B; ++b) {
          y[m][r][b] = 0;
          wi[m][r][b] = weights ? static_cast<const float*>(weights)[(size_t)(row + 16 * m + 8 * r + g) * B + b] : 0.f;
        }
  }

  static __device__ __forceinline__ void fetch_panel(uint32_t, const void*, int) {}
  static __device__ __forceinline__ void fetch(uint32_t to, const void* weights, int column) {
    if (threadIdx.x < TileBytes / 16)
      copy16(to + 16 * threadIdx.x, static_cast<const unsigned char*>(weights) + (size_t)column * B * 4 + 16 * threadIdx.x);
  }

  template <bool Both>
  __device__ __forceinline__ void add(const float (&c)[2][4][4], const unsigned char*, const unsigned char* tile, float* across) {
    const float* wj = reinterpret_cast<const float*>(tile);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
    float z[8][B], sum[2][2][B] = {};
#pragma unroll
    for (int n = 0; n < 4; ++n)
#pragma unroll
      for (int s = 0; s < 2; ++s)
#pragma unroll
        for (int b = 0; b < B; ++b) {
          const float w = wj[(8 * n + 2 * q + s) * B + b];
          float over = 0;
#pragma unroll
          for (int m = 0; m < 2; ++m)
#pragma unroll
            for (int r = 0; r < 2; ++r) {
              const float k = c[m][n][2 * r + s], e = Squares && b == 1 ? k * k : k;
              sum[m][r][b] = fmaf(e, w, sum[m][r][b]);
              if (Both) over = fmaf(e, wi[m][r][b], over);
            }
          z[2 * n + s][b] = over;
        }
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int b = 0; b < B; ++b) y[m][r][b] += sum[m][r][b];
    if constexpr (!Both) return;
    exchange<4>(z, g);
    exchange<2>(z, g);
    exchange<1>(z, g);
    const int column = 8 * (g / 2) + 2 * q + g % 2;
#pragma unroll
    for (int b = 0; b < B; ++b) across[(warp * tile_columns + column) * B + b] = z[0][b];
  }

  // A step of the sum, over the eight lanes with the same q, of eight numbers each: lanes exchange halves, and in the end lane g has number g.
  template <int Half>
  static __device__ __forceinline__ void exchange(float (&z)[8][B], int g) {
    const bool upper = g & Half;
#pragma unroll
    for (int v = 0; v < Half; ++v)
#pragma unroll
      for (int b = 0; b < B; ++b) {
        const float keep = upper ? z[v + Half][b] : z[v][b], give = upper ? z[v][b] : z[v + Half][b];
        z[v][b] = keep + __shfl_xor_sync(~0u, give, 4 * Half);
      }
  }

  static __device__ __forceinline__ void flush(const float* across, float* sums) {
    static_assert(tile_columns * B <= WarpsOfBlock * 32);
    const int e = threadIdx.x;
    if (e >= tile_columns * B) return;
    float v = across[e];
#pragma unroll
    for (int w = 1; w < WarpsOfBlock; ++w) v += across[w * tile_columns * B + e];
    fd::cuda::add(sums + e, v);
  }

  __device__ __forceinline__ void store(float* sums) {
    const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int b = 0; b < B; ++b) {
          float v = y[m][r][b];
          v += __shfl_xor_sync(~0u, v, 1);
          v += __shfl_xor_sync(~0u, v, 2);
          if (q == b % 4) sums[(16 * m + 8 * r + g) * B + b] = v;
        }
  }
};

// 8 G columns of weights through tensor cores (with G = 4 registers do not suffice). Entries and weights are sums of two 16-bit floats each, high + 2^-11 low; the product of the low parts
// is left out. Entries up to 2^15 and weights up to 2^15 use the whole range of such floats: 2^-33 of the largest keeps its digits. With one part low parts
// are left out too: sums are right to 2^-10 (accuracy.hpp), and 2^-29 of the largest keeps its digits.
// Accumulators of tensor cores hold the sums of one tile, for what a tensor core cuts is a bias.
template <int G, int Parts>
struct Many {
  static constexpr int Pieces = G * Parts;  // of 16 bytes, 8 columns, a row
  static constexpr int Width = 8 * G, TileBytes = tile_columns * Pieces * 16, PanelBytes = panel_rows * Pieces * 16;
  static constexpr float Exponent = 14;
  static constexpr bool OneSided = false;
  float y[2][G][4] = {};

  // Where 16 bytes of a row of weights lie: no bank conflicts for eight rows at a time. Rows 8 or 16 further lie that much further, and with another
  // group only those bits change that its number has.
  static __device__ __forceinline__ int swizzled(int row, int piece) { return row * Pieces + (piece ^ ((row * Pieces / 8) & (Pieces - 1))); }
  // The same for sums across warps, in groups of 8 columns.
  static __device__ __forceinline__ int place(int row, int group) { return (row * G + (group ^ ((row * G / 4) & (G - 1)))) * 8; }

  __device__ __forceinline__ Many(const void*, int) {}

  template <int Rows>
  static __device__ __forceinline__ void fetch_rows(uint32_t to, const void* weights, int first) {
#pragma unroll 1
    for (int e = here(threadIdx.x); e < Rows * Pieces; e += WarpsOfBlock * 32)
      copy16(to + 16 * swizzled(e / Pieces, e % Pieces), static_cast<const unsigned char*>(weights) + ((size_t)first * Pieces + e) * 16);
  }
  static __device__ __forceinline__ void fetch_panel(uint32_t to, const void* weights, int row) { fetch_rows<panel_rows>(to, weights, row); }
  static __device__ __forceinline__ void fetch(uint32_t to, const void* weights, int column) { fetch_rows<tile_columns>(to, weights, column); }

  // Rows of weights as second operand, two registers for 16 of them: 16 rows, high and low; or 32 rows where there is one part.
  static __device__ __forceinline__ int place_of(int lane) { return Parts == 2 ? swizzled(lane % 16, lane / 16) : swizzled(lane, 0); }
  static __device__ __forceinline__ void load(uint32_t (&w)[4], uint32_t from, int place, int row, int group) {
    load4_transposed(w, from + 16 * (place ^ Parts * group) + 16 * Pieces * row);
  }
  // The product of 16 rows (or columns) of a half `half` of what is summed over.
  static __device__ __forceinline__ void multiply(float (&large)[4], float (&fine)[4], const uint32_t (&high)[4], const uint32_t (&low)[4],
                                                  const uint32_t (&w)[4], int half) {
    if constexpr (Parts == 1) mma(large, high, w[2 * half], w[2 * half + 1]);
    else {
      mma(large, high, w[0], w[1]);
      mma(fine, high, w[2], w[3]);
      mma(fine, low, w[0], w[1]);
    }
  }
  static __device__ __forceinline__ float whole(float large, float fine) { return Parts == 1 ? large : fmaf(fine, 0x1p-11f, large); }

  template <bool Both>
  __device__ __forceinline__ void add(const float (&c)[2][4][4], const unsigned char* panel, const unsigned char* tile, float* across) {
    const int lane = here(threadIdx.x % 32), warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
    const int weights_place = place_of(lane), sums_place = place(g, 0) + 2 * q;
    uint32_t high[2][2][4], low[2][2][4];  // entries as first operand: 16 rows, 16 columns
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int n = 0; n < 4; ++n)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const uint32_t h = pack(c[m][n][2 * r], c[m][n][2 * r + 1]);
          high[m][n / 2][2 * (n % 2) + r] = h;
          if (Parts == 1) continue;
          const float2 f = unpack(h);
          low[m][n / 2][2 * (n % 2) + r] = pack((c[m][n][2 * r] - f.x) * 0x1p11f, (c[m][n][2 * r + 1] - f.y) * 0x1p11f);
        }
#pragma unroll
    for (int group = 0; group < G; ++group) {
      float large[2][4] = {}, fine[2][4] = {};
      uint32_t w[4];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (h == 0 || Parts == 2) load(w, shared_address(tile), weights_place, 16 * h, group);
#pragma unroll
        for (int m = 0; m < 2; ++m) multiply(large[m], fine[m], high[m][h], low[m][h], w, h);
      }
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e) y[m][group][e] += whole(large[m][e], fine[m][e]);
    }
    if constexpr (!Both) return;
    // K^T as first operand: blocks of 8 x 8 transposed where they are, the two off the diagonal exchanged
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        turn(high[m][h]);
        if (Parts == 2) turn(low[m][h]);
      }
#pragma unroll
    for (int group = 0; group < G; ++group) {
      float large[2][4] = {}, fine[2][4] = {};
      uint32_t w[4];
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        if (m == 0 || Parts == 2) load(w, shared_address(panel), weights_place, warp * 32 + 16 * m, group);
#pragma unroll
        for (int h = 0; h < 2; ++h) multiply(large[h], fine[h], high[m][h], low[m][h], w, m);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          store2(shared_address(across) + 4 * (warp * tile_columns * Width + (sums_place ^ 8 * group) + (16 * h + 8 * r) * Width),
                 whole(large[h][2 * r], fine[h][2 * r]), whole(large[h][2 * r + 1], fine[h][2 * r + 1]));
    }
  }

  static __device__ __forceinline__ void turn(uint32_t (&a)[4]) {
    const uint32_t upper = transpose(a[2]), lower = transpose(a[1]);
    a[0] = transpose(a[0]), a[1] = upper, a[2] = lower, a[3] = transpose(a[3]);
  }

  static __device__ __forceinline__ void flush(const float* across, float* sums) {
#pragma unroll 1
    for (int e = here(threadIdx.x); e < tile_columns * Width; e += WarpsOfBlock * 32) {
      const int from = place(e / Width, e % Width / 8) + e % 8;
      float v = across[from];
#pragma unroll
      for (int w = 1; w < WarpsOfBlock; ++w) v += across[w * tile_columns * Width + from];
      fd::cuda::add(sums + e, v);
    }
  }

  __device__ __forceinline__ void store(float* sums) {
    const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int group = 0; group < G; ++group)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          *reinterpret_cast<float2*>(sums + (16 * m + 8 * r + g) * Width + 8 * group + 2 * q) =
              make_float2(y[m][group][2 * r], y[m][group][2 * r + 1]);
  }
};

}  // namespace
}  // namespace fd::cuda
