// The points as the kernel should see them: mean removed in fp64, columns that do not vary dropped (distances do not change, the
// cost does), and, for a rung of the ladder, only some of the rows.
#pragma once

#include <cstddef>
#include <vector>

#include <flashdiffusion/points.hpp>

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

// Calls f(first, count, rows) over the source in pieces of about a megabyte of doubles.
template <class F>
void in_pieces(PointSource& source, F&& f) {
  const std::size_t dimension = source.dimension(), n = source.rows();
  const std::size_t piece = std::max<std::size_t>(1, (std::size_t{1} << 17) / std::max<std::size_t>(1, dimension));
  std::vector<double> rows(std::min(piece, n) * dimension);
  for (std::size_t first = 0; first < n; first += piece) {
    const std::size_t count = piece < n - first ? piece : n - first;
    source.read(first, count, rows.data());
    f(first, count, rows.data());
  }
}

}  // namespace fd
