// Points as the tile kernels read them: panels of 48 rows in locality order, each [dimension][48], scaled for one bandwidth.
//
// The scale may be that of a larger bandwidth: exponents are then multiplied by the ratio of the two, and do for many bandwidths.
//
// Every panel has a centre. With one global centre (all zero) tiles need no shift; where beta |x|^2 is so large that the expanded
// form would lose digits, panels keep coordinates relative to their own centre and a tile moves its column panel to the centre of
// its row panel. Which of the two holds for a whole pass is decided when the points are packed.
//
// Packed in few bits (packed_low_precision.cpp) `x` holds two 16-bit numbers in the bits of a T, and `dimension` counts these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <flashdiffusion/points.hpp>
#include "backends/cpu/accuracy.hpp"
#include "backends/cpu/panel_bounds.hpp"
#include "base/aligned_buffer.hpp"
#include "base/archive.hpp"
#include "base/team.hpp"
#include "device/backend.hpp"

namespace fd::cpu {

inline constexpr std::size_t panel_rows = 48;  // a multiple of every register tile's height and width

// What exponents of tiles are made of: packings that are equal give equal ones, also those of points that went to another rank and came again.
struct Packing {
  std::uint64_t content = 0;  // a checksum of the points
  double reference = -1;      // the bandwidth they are scaled for
  bool local = false;
  double cancellation = 0;
  bool operator==(const Packing&) const = default;
};

template <class T>
struct PackedPoints {
  std::size_t rows = 0, panels = 0, dimension = 0;
  std::size_t of_rows = 0;                     // of all ranks together
  std::size_t first_panel = 0, of_panels = 0;  // of a part of a rank's points: where it begins, in how many
  bool local = false;                          // coordinates are relative to the panel's own centre
  // Exponents are made of points scaled for a bandwidth no smaller than that of the pass, which is `multiple` of it, at most 1.
  double multiple = 1;
  Packing packing;
  Coding coding;
  double cancellation = 0;  // the largest A for the expanded form (accuracy.hpp)
  const std::size_t* first_row =
      nullptr;            // [panels + 1]: the rows of panel p are first_row[p] … first_row[p + 1] - 1, at most 48
  AlignedBuffer<T> x;     // [panel][dimension][48]; places without a row are zero
  AlignedBuffer<T> low;   // local only: what rounding took from x, same layout
  AlignedBuffer<T> half;  // local only, [panel][48]: -|x|^2 / 2 of the rounded x
  // [panel][48]: 2^(-|x|^2/2) at the bandwidth of the pass, which weights and sums take and entries lack; 1 where panels are local
  AlignedBuffer<double> factor;
  AlignedBuffer<double> square;  // [panel][48]: |x|^2
  AlignedBuffer<T> centre;       // [panel][dimension]: where the panel's points lie (scaled), for bounds
  const double* exact_centre =
      nullptr;  // [panel][dimension], before scaling: the difference of two is exact, far from the origin too
  double scale = 1;
  PanelBounds* bounds = nullptr;  // of the same panels, unscaled
  AlignedBuffer<T> radius;        // [panel]: of a ball around the centre
  AlignedBuffer<T> centre_error;  // [panel]: what rounding may have moved the centre by, which far from the origin is much
  const T* panel(std::size_t p) const { return x.data() + p * dimension * panel_rows; }
  const T* low_panel(std::size_t p) const { return low.data() + p * dimension * panel_rows; }
};

// What is kept between bandwidths: coordinates relative to each panel's centre, the centre in fp64, and the order.
template <class T>
class CpuPoints final : public Points {
 public:
  CpuPoints(PointSource& centred, Precision precision, const std::optional<Whole>& whole);
  explicit CpuPoints(Archive& from);  // as they were written by another rank; the order of its rows stays there
  void write(Archive& to, Places some) const;
  Places places(std::size_t part, std::size_t parts) const;  // of one of so many parts, which begin with whole chunks of panels

  const SharedLayout& layout() const override { return layout_; }
  std::size_t dimension() const override { return dimension_; }
  Precision precision() const override { return precision_; }
  std::uint64_t table() const { return table_; }  // of Whole; 0: all rows are here

  // Packed for a bandwidth, scaled for `reference`, which is no smaller; the last packing is kept. `local`: with local centres. `beside_others`: for a
  // product with other points, some of which may be the same rows.
  const PackedPoints<T>& packed(double beta, double reference, bool local, bool beside_others, Team& team) const;
  bool wants_local(double beta, bool beside_others = false) const;
  const PackedPoints<T>& packed(double beta, Coding coding, Team& team) const;  // in few bits
  double norm(double beta) const;                                               // no row's is larger, scaled for this bandwidth
  double coordinate(double beta) const;                                         // and no coordinate

 private:
  void pack(double reference, bool local, double cancellation, Team& team) const;
  double cancellation(bool beside_others) const;
  void make_bounds();
  struct Visiting;
  void archive(Archive& archive, Visiting some);

  std::size_t dimension_ = 0, panels_ = 0;
  std::size_t first_panel_ = 0, of_panels_ = 0;  // of a part: where it begins, in how many
  Precision precision_ = Precision::fp32;
  SharedLayout layout_;
  std::vector<std::size_t> first_row_;
  AlignedBuffer<double> offset_;     // [panel][dimension][48], from the centre: fp64, so that no bandwidth is too large for it
  AlignedBuffer<float> offset_low_;  // fp64 only: what rounding took from offset_
  AlignedBuffer<double> centre_;     // [panel][dimension]
  double largest_square_ = 0;        // of |x|, over all rows
  double largest_coordinate_ = 0;
  bool copies_ = false;        // some rows are the same
  std::uint64_t content_ = 0;  // a checksum
  std::uint64_t table_ = 0;
  mutable std::unique_ptr<PanelBounds> bounds_;
  mutable PackedPoints<T> packed_, low_precision_;
  mutable double packed_beta_ = -1, packed_reference_ = -1, low_precision_beta_ = -1;
};

}  // namespace fd::cpu
