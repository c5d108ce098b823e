#include "analysis/squared_distances.hpp"

namespace fd {

// Sums side by side, so that the compiler may use vectors without reordering any.
void squared_distances(const double* from, const double* points, std::size_t count, std::size_t dimension, double* out) {
  if (dimension == 3) {
    for (std::size_t j = 0; j < count; ++j) {
      const double a = points[3 * j] - from[0], b = points[3 * j + 1] - from[1], c = points[3 * j + 2] - from[2];
      out[j] = a * a + b * b + c * c;
    }
    return;
  }
  for (std::size_t j = 0; j < count; ++j) {
    const double* point = points + j * dimension;
    double sums[4] = {};
    std::size_t c = 0;
    for (; c + 4 <= dimension; c += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) {
        const double difference = point[c + lane] - from[c + lane];
        sums[lane] += difference * difference;
      }
    for (std::size_t lane = 0; c < dimension; ++c, ++lane) {
      const double difference = point[c] - from[c];
      sums[lane] += difference * difference;
    }
    out[j] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

}  // namespace fd
