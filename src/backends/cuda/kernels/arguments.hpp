// What host and kernels agree on: the arguments of the kernels, as they lie in memory, and the shapes of packed points and weights. Addresses are
// pointers in kernels and numbers on the host.
#pragma once

#include <cstdint>

namespace fd::cuda {

#ifdef __CUDACC__
template <class T>
using Address = T*;
#else
template <class T>
using Address = std::uint64_t;
#endif

constexpr int panel_rows = 128;    // points are padded to a multiple of it
constexpr int tile_columns = 32;   // of the fused kernel
constexpr int step_columns = 16;   // coordinates that one tensor-core instruction takes
constexpr int direct_tile = 64;    // rows and columns of a tile of the direct kernel
constexpr int most_columns = 16;   // of a width group
constexpr int direct_columns = 8;  // of a width group of the direct kernel

// Shared memory of the fused kernel: rows, columns, norms, weights of tiles, weights of rows where tensor cores take them, sums across warps.
// Parts: of coordinates, and of entries and weights.
constexpr int fused_shared_bytes(int steps, int parts, int width, int sum_parts) {
  const int weights = width >= 8 ? 2 * sum_parts * width : 4 * width;  // bytes a row
  return (steps * parts > 4 ? 2 : 1) * panel_rows * 128 + 2 * tile_columns * (128 + 4 + weights) +
         (width >= 8 ? panel_rows * weights : 0) + 4 * tile_columns * 4 * width;
}
constexpr int direct_shared_bytes(int value_bytes) {
  return 2 * 16 * (direct_tile + 1) * 8 + direct_tile * (direct_tile + 4 + 2 * direct_columns) * value_bytes;
}

// Which blocks of rows I and of columns J a launch makes; block (x, y) of the grid is the pair (first_i + y, first_j + x), and its sums go to slot
// y gridDim.x + x of the workspace: rows of I at row_sums + slot block width, columns of J likewise.
struct Blocks {
  int block;  // rows of a block, a multiple of panel_rows
  int first_i, first_j;
  int rows_i, rows_j;  // padded
  int symmetric;       // I and J are of the same points: only J >= I, the diagonal left out
  int two_sided;       // entries serve rows and columns
  int share;           // 0 all pairs of blocks, 1 those with even I + J, 2 with odd
};

// A side of a product as the fused kernel takes it. Coordinates: `steps` times 16 high and, with two parts, 16 low parts a row. Weights: groups of 8 high
// and, with two parts, 8 low parts, or floats, a row.
struct FusedSide {
  Address<const std::uint16_t> points;
  Address<const float> norms;
  Address<const void> weights;
};

struct FusedArguments {
  Blocks blocks;
  int steps;
  int low_low;  // whether the product of two low parts counts
  FusedSide i, j;
  Address<float> row_sums, column_sums;
};

struct DirectArguments {
  Blocks blocks;
  int dimension, count_i, count_j;           // rows that are there
  int width;                                 // columns of weights; 2 for mass
  double exponent;                           // 2^(exponent |x - y|^2)
  Address<const void> points_i, points_j;    // rows of doubles, or of pairs of floats
  Address<const double> halves_i, halves_j;  // |x|^2 / 2, for products of coordinates
  Address<const void> weights_i, weights_j;  // width a row
  Address<void> row_sums, column_sums;
};

// Slots of a launch added to fp64 sums, width a row, in the order of I for columns and of J for rows.
struct AddSlots {
  Blocks blocks;
  int count_i, count_j, width;  // blocks of the launch
  Address<const void> slots;
  Address<double> sums;
};

struct PackPoints {
  Address<const double> points;  // rows x dimension
  int rows, padded, dimension, steps;
  int parts;  // 1 or 2
  double scale;
  double grid;                   // high parts are multiples of its inverse
  Address<const double> shifts;  // one a coordinate
  Address<std::uint16_t> packed;
  Address<float> norms;
  Address<double> factors;  // 2^-(|x|^2/2 - its whole part)
};

struct PackFloats {
  Address<const double> points;
  int rows, dimension;
  double scale;          // a power of two: coordinates lose nothing by it
  Address<float> parts;  // pairs: x rounded, and what is left
};

struct HalfSquares {
  Address<const double> points;  // rows x dimension
  int rows, dimension;
  Address<double> halves;  // |x|^2 / 2
};

// A window of a panel.
struct Window {
  Address<void> data;  // first row, first column
  int stride, rows, count;
};

struct WeightScales {
  Window weights;
  Address<float> largest;  // most_columns a piece of rows
  int pieces;
  Address<double> scales;  // most_columns times in, most_columns times out
  int exponent;            // the largest weight of a column becomes at most 2^exponent
};

struct PackWeights {
  Window weights;
  int padded, width;              // width: of the group, at least weights.count
  int parts;                      // 1 or 2 where they are 16-bit floats
  Address<const double> factors;  // null: 1
  Address<const double> scales;   // null: 1
  Address<void> packed;
};

struct Finish {
  Window y;
  int width;
  Address<const double> sums;
  Address<const double> factors;  // of rows; null: 1
  Address<const double> scales;   // of columns; null: 1
  double scale;                   // of all, of column 1 its square where `squares`
  int squares, accumulate;
};

struct GramArguments {
  Window a, b;
  int piece;                // rows
  Address<double> partial;  // a.count x b.count a piece
};
struct GramSum {
  Address<const double> partial;
  Address<double> sum;
  int size, pieces;
};

struct CombineArguments {
  Window a, y;
  Address<const double> s;  // a.count x y.count, row-major
  int accumulate;
};

// to = from, or to += from
struct CopyArguments {
  Window from, to;
  int add;
};

struct ScaleArguments {
  Window scale, a, y;
  int add;
};

struct RandomArguments {
  Window a;
  std::uint64_t seed, stream, first;  // first: row of the table that the window begins with
};

// Between a window and doubles, rows x count.
struct MoveArguments {
  Window a;
  int first_row, rows;
  Address<double> values;
};

}  // namespace fd::cuda
