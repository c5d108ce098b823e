#include "fit/kept_points.hpp"

#include <cmath>

#include "base/pieces.hpp"

namespace fd {

Table kept_points(PointSource& source, const std::vector<double>& mean, double beta, bool wide) {
  constexpr double off_by_at_most = 1e-5;
  const std::size_t dimension = source.dimension();
  Table table(source.rows(), dimension, wide);
  double moved = 0;  // the largest delta^2
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i) {
      double squared = 0;
      for (std::size_t c = 0; c < dimension; ++c) {
        const double centred = rows[i * dimension + c] - mean[c];
        table.set(first + i, c, centred);
        squared += std::pow(centred - table(first + i, c), 2);
      }
      moved = std::fmax(moved, squared);
    }
  });
  if (wide || 8 * std::sqrt(beta * moved) <= off_by_at_most) return table;
  table = Table();
  return kept_points(source, mean, beta, true);
}

}  // namespace fd
