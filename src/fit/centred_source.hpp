// The points as the kernel should see them: mean removed in fp64, columns that do not vary dropped (distances do not change, the
// cost does), and, for a rung of the ladder, only some of the rows.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/points.hpp>

#include "base/pieces.hpp"

namespace fd {

// What one reading of all rows tells.
struct PointSummary {
  std::size_t rows = 0, dimension = 0;
  std::vector<double> mean;
  std::vector<std::size_t> varying;  // columns that are not constant
  double mean_square = 0;            // of |x - mean|
};

// Throws Error(input) for NaN or infinity (row and column named, the others counted) and for points that are all equal.
PointSummary summarise(PointSource& source);

class CentredSource final : public PointSource {
 public:
  // `rows`: which rows, ascending; empty means all.
  CentredSource(PointSource& source, const PointSummary& summary, std::vector<std::size_t> rows = {})
      : source_(source), summary_(summary), rows_(std::move(rows)) {}

  std::size_t rows() const override { return rows_.empty() ? source_.rows() : rows_.size(); }
  std::size_t dimension() const override { return summary_.varying.size(); }
  void read(std::size_t first, std::size_t count, double* out) override;

 private:
  void centre(const double* row, double* out) const;

  PointSource& source_;
  const PointSummary& summary_;
  std::vector<std::size_t> rows_;
  std::vector<double> buffer_;
};

}  // namespace fd
