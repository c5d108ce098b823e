// A kernel pass: groups of columns, launches of bounded time, sums in a fixed order.
//
// Blocks of rows (I, J) are made by one thread block each, which writes partial sums of its rows and of its columns to a slot of the workspace of its own;
// slots are then added to fp64 sums, columns in the order of I and rows in the order of J. That order, and so every bit, is the same however the
// blocks are cut into launches and whatever runs at the same time. Each sum is thus of at most `block_rows` terms in fp32, then fp64.
#pragma once

#include <functional>

#include "backends/cuda/cuda_points.hpp"

namespace fd::cuda {

struct Product {
  double beta = 0;
  const CudaPoints *x = nullptr, *z = nullptr;  // the same: symmetric, without the diagonal
  bool mass = false;                            // sums of entries and of their squares; no weights
  Columns w_x, w_z, y_x, y_z;                   // y_x = K w_z; between different points, where two-sided, also y_z = K^T w_x
  bool symmetric = false, two_sided = false, accumulate = false;
  Share share = Share::all;
  Precision promise = Precision::fp32;
  Watch* watch = nullptr;
};

class PassRunner {
 public:
  explicit PassRunner(SharedDevice device) : device_(std::move(device)) {}
  void run(const Product& product);

 private:
  struct Cut {
    int first_i, count_i, first_j, count_j;
  };
  // A group of columns, first to first + width, of which `count` are there.
  struct Group {
    std::size_t first, count;
    int width;
  };
  // What the launches of a group have in common.
  struct Sweep {
    int width = 0;
    bool wide = false;         // slots of doubles
    double work_per_pair = 0;  // and in a launch at most `work`
    double work = 0;
    std::function<void(const Blocks&, Device::Grid)> launch;
  };
  void fused(const Product& product, const Arithmetic& arithmetic, const Group& group);
  void direct(const Product& product, const Group& group);
  void sweep(const Product& product, const Sweep& sweep);
  static std::vector<Cut> cuts(int blocks_i, int blocks_j, bool symmetric, int most);
  void pack_weights(const CudaPoints& points, Columns w, int width, int parts, Pointer factors, Buffer& scales, Buffer& packed);
  void finish(const Product& product, const CudaPoints& points, Columns y, int width, const Buffer& sums, Pointer factors,
              Pointer scales, double scale);

  SharedDevice device_;
  Buffer weights_x_, weights_z_, sums_x_, sums_z_, scales_x_, scales_z_, largest_, row_slots_, column_slots_;
  Event events_[2];
  double done_ = 0, share_ = 1;  // of the pass before this group, and of this group
};

}  // namespace fd::cuda
