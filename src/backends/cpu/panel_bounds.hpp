// Where panels lie: balls around their centres, and boxes, in fp64 and without a bandwidth, for lower bounds on distances.
//
// Boxes are along the coordinates where there are few of these. Where there are many, a box along each would hold little but its own corners:
// boxes are then along a few orthonormal directions, those in which the centres of panels differ most, and only for so many panels that
// projecting all rows is nothing beside a pass. A projection shortens distances, so each of these is a bound, and the best of them is taken.
//
// Guarantees: no two rows are closer than a bound, roundings included. Does not know: bandwidths, weights, what is negligible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/team.hpp"

namespace fd::cpu {

class PanelBounds {
 public:
  // Of rows centre + offset, laid out as in CpuPoints, which outlives this.
  PanelBounds(const AlignedBuffer<double>& offset, const AlignedBuffer<double>& centre, const std::vector<std::size_t>& first_row,
              std::size_t dimension, double largest_norm, std::uint64_t content)
      : offset_(offset),
        centre_(centre),
        first_row_(first_row),
        dimension_(dimension),
        largest_norm_(largest_norm),
        content_(content) {}

  double diameter() const { return 2 * largest_norm_ * (1 + 1e-9); }  // no two rows are further apart
  // Before any of what follows; with others that it is to be compared with, along their axes.
  void prepare(Team& team, const PanelBounds* others = nullptr);
  bool prepared() const { return axes_of_ != nullptr; }
  std::uint64_t content() const { return content_; }  // a checksum of the points

  // No row of panel p is within `distance` of one of panel q of `others`, which were prepared along the same axes.
  bool apart(std::size_t p, const PanelBounds& others, std::size_t q, double distance) const;

  // Boxes around several panels.
  struct Box {
    std::vector<double> low, high;
  };
  Box around(std::size_t first, std::size_t last) const;
  bool apart(const Box& a, const Box& b, double distance) const;

 private:
  void choose_axes();
  void measure(std::size_t panel);
  double coordinate(std::size_t panel, std::size_t c, std::size_t r) const;
  bool boxes_apart(const double* low_a, const double* high_a, const double* low_b, const double* high_b, double distance) const;

  const AlignedBuffer<double>& offset_;
  const AlignedBuffer<double>& centre_;
  const std::vector<std::size_t>& first_row_;
  std::size_t dimension_, axes_ = 0;
  double largest_norm_, slack_ = 0;          // slack_: what roundings may have moved a bound by
  std::vector<double> direction_;            // [axis][dimension]; empty: the coordinates are the axes
  std::vector<double> radius_, low_, high_;  // [panel], [panel][axis]
  std::uint64_t content_;
  const PanelBounds* axes_of_ = nullptr;  // whose axes these are; null: not prepared
};

}  // namespace fd::cpu
