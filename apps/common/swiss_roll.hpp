// The paper's Swiss roll, drawn as its Python program drew it: t = 3 pi/2 (1 + 2 u), h = 21 w, points (t cos t, h, t sin t), each axis
// brought to mean 0 and variance 1 over the sample; the u of all rows come first from numpy.random.default_rng(seed), then the w. Rows are
// made when they are read and never stored: a roll of 10^8 points takes no memory.
//
// Guarantees: numpy's numbers, up to rounding of sums; an interrupt ends the making of a roll, of however many rows. Does not know: kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include <flashdiffusion/points.hpp>

#include "base/team.hpp"

namespace fd::cli {

class SwissRoll final : public PointSource {
 public:
  SwissRoll(std::size_t rows, std::uint32_t seed, int threads = 0);  // makes all rows, for the means and variances

  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return 3; }
  void read(std::size_t first, std::size_t count, double* out) override { make(first, count, out, nullptr); }
  // From any thread. `turns`: t of each row, where it is wanted.
  void make(std::size_t first, std::size_t count, double* out, double* turns) const;

  double deviation(std::size_t axis) const { return deviation_[axis]; }  // of the axes before they were scaled

 private:
  std::size_t rows_;
  std::uint32_t seed_;
  double mean_[3] = {0, 0, 0}, deviation_[3] = {1, 1, 1};
};

// The surface that the roll's points lie on, as N grows: what small balls on it hold.
struct RollGeometry {
  double area;  // V
  double
      mean_density;  // E[q] = integral of q^2 over the surface: the chance that two points are within r is pi r^2 E[q] for small r
};
RollGeometry roll_geometry();

}  // namespace fd::cli
