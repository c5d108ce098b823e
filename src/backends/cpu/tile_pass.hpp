// What a kernel pass is to the tile kernels: points, packed weights, fp64 accumulators, and which epilogue to run. One table of
// function pointers an instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/packed_points.hpp"

namespace fd::cpu {

enum class Epilogue {
  narrow,  // up to `narrow_most` columns, in registers; weights [panel][column][48]
  wide,    // any width; weights [panel][block][48][columns of the block], padded to whole vectors
  mass,    // sums of e and e^2; weights [panel][1][48], one for a row and zero for padding
};

template <class T>
struct Pass {
  Epilogue epilogue = Epilogue::wide;
  // One set of points (z is x): every unordered pair once, the diagonal left out. Two directions: entries serve their columns as well as their rows.
  bool one_set = true, two_directions = true;
  const PackedPoints<T>* x = nullptr;  // rows of the result
  const PackedPoints<T>* z = nullptr;  // rows of the weights
  std::size_t stride = 0;              // columns there are, padded to what the epilogue takes
  const T* weights_x = nullptr;        // weights at x: read for the transposed direction
  const T* weights_z = nullptr;
  double least_exponent = 0;  // tiles with no exponent above it may be left out; tested here in rectangular passes only
  double* y_x = nullptr;      // laid out as the weights are, with `stride` columns
  double* y_z = nullptr;      // of the transposed direction; y_x for one set

  bool diagonal(std::size_t p, std::size_t q) const { return one_set && p == q; }

  std::size_t block = 1;  // columns of a block in the wide epilogue: what a register tile is wide, less in the last one

  // Where a column of a panel of weights or accumulators begins, and how far its rows are apart.
  struct Column {
    std::size_t first, step;
  };
  Column column(std::size_t c) const {
    if (epilogue != Epilogue::wide) return {c * panel_rows, 1};
    const std::size_t begin = c / block * block, width = std::min(block, stride - begin);
    return {begin * panel_rows + (c - begin), width};
  }
};

// Scratch of one thread.
template <class T>
struct Scratch {
  AlignedBuffer<T> tile;      // 48 × 48 kernel entries
  AlignedBuffer<T> moved;     // a column panel moved to another centre: x, low parts, -|x|^2/2
  AlignedBuffer<T> groups;    // the column panels of a chunk, packed in groups
  AlignedBuffer<T> row_sums;  // of one row panel, over a chunk of column panels
  AlignedBuffer<T> column_sums;
  AlignedBuffer<double> wide;  // of Gram sums
};

inline constexpr std::size_t tile_entries = panel_rows * panel_rows;

// What is known of a task's tiles, in the order in which it visits them.
template <class T>
struct TaskTiles {
  const std::uint64_t* survivors = nullptr;  // a bit a tile (surviving_tiles.hpp): the others are left out; null: all survive
  T* kept = nullptr;                         // [tile][48 × 48] (tile_store.hpp); null: they are not
  std::uint8_t* made = nullptr;              // [tile]
  bool as_entries = false;                   // entries of this bandwidth are kept, not exponents
};

inline constexpr std::size_t chunk_panels = 4;  // column panels whose sums stay in cache while row panels pass by

// A range of panels.
struct PanelRange {
  std::size_t first, last;
};

template <class T>
struct TileKernels {
  std::size_t lanes;
  std::size_t block;        // columns of a block of the wide epilogue
  Numbers few;              // the few bits that `tiles` takes points in; floats: none
  std::size_t narrow_most;  // widest pass of the narrow epilogue: 1, 4 or 8; it takes 1, 2, 3, 4 and 8 columns
  // All tiles of rows × columns; rows == columns means a diagonal block where there is one set of points.
  void (*tiles)(const Pass<T>& pass, PanelRange rows, PanelRange columns, const TaskTiles<T>& task, Scratch<T>& scratch);
  // G += A^T B over `rows` rows; g is na × nb, row-major.
  void (*gram)(const T* a, std::size_t lda, std::size_t na, const T* b, std::size_t ldb, std::size_t nb, std::size_t rows,
               double* g, Scratch<T>& scratch);
  // Y = A S or Y += A S over `rows` rows; s is na × padded, row-major, `padded` a multiple of the lanes. Y may be A.
  void (*combine)(const T* a, std::size_t lda, std::size_t na, const T* s, std::size_t padded, T* y, std::size_t ldy,
                  std::size_t ny, std::size_t rows, bool accumulate, Scratch<T>& scratch);
  // e_i = 2^t_i, for tests and benchmarks; near: of t that do not underflow.
  void (*exp2)(const T* t, T* e, std::size_t count);
  void (*exp2_near)(const T* t, T* e, std::size_t count);
  // Independent multiply-adds in registers and nothing else, for benchmarks: rounds times multiply_adds_a_round of them.
  T (*multiply_adds)(std::size_t rounds);
  std::size_t multiply_adds_a_round;
};

// The table for one of the targets that Highway compiled (instruction_set.cpp). The second argument only names the type.
const TileKernels<float>* kernels_of(long long target, const float*);
const TileKernels<double>* kernels_of(long long target, const double*);

}  // namespace fd::cpu
