// Points in a GPU's memory: coordinates as they came, in fp64, and the forms that kernels take, made on the device for one bandwidth at a time.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "backends/cuda/accuracy.hpp"
#include "backends/cuda/cuda_panel.hpp"
#include "base/archive.hpp"
#include "device/backend.hpp"
#include "device/points.hpp"

namespace fd::cuda {

class CudaPoints final : public Points {
 public:
  CudaPoints(SharedDevice device, PointSource& source, Precision precision, const std::optional<Whole>& whole,
             HostBuffer& staging);
  // Of what another rank's back-end wrote.
  CudaPoints(SharedDevice device, Archive& archive, HostBuffer& staging);
  void write(Archive& archive, HostBuffer& staging) const;
  // Of what another rank's back-end in this process lends.
  CudaPoints(SharedDevice device, Archive& archive);
  void lend(Archive& archive) const;
  static void skip_lent(Archive& archive);
  std::size_t most_bytes() const;  // of memory, in the forms that a pass may ask for

  const SharedLayout& layout() const override { return layout_; }
  std::size_t dimension() const override { return bounds_.dimension; }
  Precision precision() const override { return precision_; }
  const Bounds& bounds() const { return bounds_; }
  std::size_t padded_rows() const { return (rows() + panel_rows - 1) / panel_rows * panel_rows; }
  Pointer coordinates() const {
    arrival_.meet();
    return coordinates_.address();
  }

  // Rows farther from the origin than that, by their numbers in the source, and their coordinates, on the host.
  struct FarRows {
    std::vector<std::size_t> rows;
    std::vector<double> coordinates;
  };
  FarRows rows_beyond(double norm) const;
  bool holds_digits(double beta) const { return digits_at_ == beta; }  // as refuse_lost_digits found
  void note_digits(double beta) const { digits_at_ = beta; }

  // For the fused kernel.
  struct Fused {
    Pointer packed, norms, factors;
    int steps;
  };
  Fused fused(double beta, const Arithmetic& arithmetic) const;
  // For the direct kernel in fp32: pairs of floats, times 2^exponent.
  Pointer floats(int exponent) const;
  // For products of coordinates in fp64: |x|^2 / 2 of each row.
  Pointer half_squares() const;

 private:
  struct Head {  // what goes with the coordinates
    std::size_t rows = 0, first = 0, here = 0;
    Bounds bounds;
    Precision precision = Precision::fp32;
  };
  friend void archive(Archive& archive, Head& head);
  Head head() const;
  void take(const Head& head);
  void allocate();
  SharedDevice device_;
  SharedLayout layout_;
  Bounds bounds_;
  Precision precision_ = Precision::fp32;
  Buffer coordinates_, shifts_;
  Arrival arrival_;  // of coordinates
  mutable Buffer packed_, norms_, factors_, floats_, halves_;
  mutable double beta_ = std::numeric_limits<double>::quiet_NaN(), step_ = 0;  // of what is packed
  mutable double digits_at_ = std::numeric_limits<double>::quiet_NaN();
  mutable int parts_ = 0;
  mutable std::optional<int> exponent_;
};

}  // namespace fd::cuda
