#include "fit/right_eigenvectors.hpp"

#include <cmath>
#include <numeric>

namespace fd {

Table right_eigenvectors(std::vector<double>& v, const std::vector<double>& degree, std::size_t modes, bool wide) {
  const std::size_t n = degree.size();
  const double total = std::accumulate(degree.begin(), degree.end(), 0.0);
  std::vector<double> norm(modes, 0.0), largest(modes, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = degree[i] > 0 ? 1 / std::sqrt(degree[i]) : 0;  // 0: set aside, and placed later
    for (std::size_t j = 0; j < modes; ++j) {
      double& value = v[i * modes + j];
      value *= scale;
      norm[j] += degree[i] / total * value * value;
      if (std::abs(value) > std::abs(largest[j])) largest[j] = value;
    }
  }
  Table psi(n, modes, wide);
  for (std::size_t j = 0; j < modes; ++j) {
    const double scale = (largest[j] < 0 ? -1 : 1) / std::sqrt(norm[j]);
    for (std::size_t i = 0; i < n; ++i) psi.set(i, j, scale * v[i * modes + j]);
  }
  return psi;
}

}  // namespace fd
