#include "fit/exact_rank.hpp"

#include <algorithm>

#include <Eigen/QR>

#include "flow/ladder.hpp"

namespace fd {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> rows_of(const double* rows, std::size_t count, std::size_t columns) {
  return {rows, static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(columns)};
}

constexpr double nothing = 1e-13, something = 1e-5;  // of the largest pivot

// An orthonormal basis of the span of a sample of the rows. Empty where the rank is not clear: a direction in which rows differ by little, but by
// more than rounding, may be all that a fine kernel sees.
RowMajor span_of_sample(PointSource& source, const PointSummary& summary, std::uint64_t seed, double& scale) {
  const std::size_t columns = summary.varying.size(), sample_rows = columns + 32;
  CentredSource sample(source, summary, nested_sample(summary.rows, sample_rows, seed));
  std::vector<double> values(sample_rows * columns);
  sample.read(0, sample_rows, values.data());
  const Eigen::MatrixXd across = rows_of(values.data(), sample_rows, columns).transpose();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(across);
  const auto pivots = qr.matrixQR().diagonal().cwiseAbs();
  Eigen::Index rank = 0;
  scale = pivots.size() > 0 ? pivots(0) : 0;
  while (rank < pivots.size() && pivots(rank) > nothing * scale) ++rank;
  if (rank == 0 || pivots(rank - 1) < something * scale) return {};
  return qr.householderQ() * Eigen::MatrixXd::Identity(across.rows(), rank);
}

}  // namespace

void reduce_to_rank(PointSource& source, PointSummary& summary, const std::vector<Precision>& precision, std::uint64_t seed) {
  constexpr std::size_t least_columns = 24, cheap_columns = 128, many_rows = 32768;
  const std::size_t columns = summary.varying.size();
  if (columns < least_columns || summary.rows < columns + 64) return;
  if (columns > cheap_columns && (summary.rows < many_rows || summary.rows < 8 * columns)) return;
  // a turn rounds coordinates as fp64 does, which is all that a fit in fp64 has
  if (std::any_of(precision.begin(), precision.end(), [](Precision p) { return traits(p).wide_panels; })) return;
  double scale = 0;
  const RowMajor basis = span_of_sample(source, summary, seed, scale);
  if (basis.cols() == 0 || 5 * basis.cols() > 4 * basis.rows()) return;
  bool all_inside = true;
  CentredSource centred(source, summary);
  in_pieces(centred, [&](std::size_t, std::size_t count, const double* rows) {
    if (!all_inside) return;
    const auto x = rows_of(rows, count, columns);
    const RowMajor outside = x - (x * basis) * basis.transpose();
    all_inside = outside.rowwise().norm().maxCoeff() <= 10 * nothing * scale;
  });
  if (!all_inside) return;
  summary.basis.assign(basis.data(), basis.data() + basis.size());
}

}  // namespace fd
