#include "analysis/retained_mass.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/sample.hpp"

namespace fd {
namespace {

// Coordinates evaluated within a fraction of a second by one thread.
constexpr double affordable = 4e8;
constexpr std::size_t least_rows = 16;

template <class Value>
double squared_distance(const Value* a, const Value* b, std::size_t dimension) {
  Value sums[8] = {};  // side by side, so that the compiler may use vectors without reordering a sum
  std::size_t c = 0;
  for (; c + 8 <= dimension; c += 8)
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const Value difference = a[c + lane] - b[c + lane];
      sums[lane] += difference * difference;
    }
  for (std::size_t lane = 0; c < dimension; ++c, ++lane) {
    const Value difference = a[c] - b[c];
    sums[lane] += difference * difference;
  }
  double total = 0;
  for (const Value sum : sums) total += static_cast<double>(sum);
  return total;
}

// f_k of one row for each k.
template <class Value>
void measure_row(const std::vector<Value>& points, std::size_t dimension, const std::vector<std::size_t>& rows, std::size_t row,
                 double beta, const std::vector<std::size_t>& neighbours, std::vector<double>& kernel, double* retained) {
  kernel.clear();
  for (const std::size_t other : rows)
    kernel.push_back(std::exp(-beta * squared_distance(&points[row * dimension], &points[other * dimension], dimension)));
  const double all = std::accumulate(kernel.begin(), kernel.end(), 0.0);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    retained[i] = 1;
    if (neighbours[i] >= kernel.size()) continue;
    const auto end = kernel.begin() + static_cast<std::ptrdiff_t>(neighbours[i]);
    std::nth_element(kernel.begin(), end, kernel.end(), std::greater<>());
    std::sort(kernel.begin(), end, std::greater<>());  // a sum in an order that no library chooses
    retained[i] = std::min(1.0, std::accumulate(kernel.begin(), end, 0.0) / all);
  }
}

RetainedMass summarised(std::size_t k, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {k, std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), at(0.05), at(0.95)};
}

}  // namespace

RetainedMassSample retained_mass(const Table& points, const std::vector<std::size_t>& rows, double beta,
                                 const std::vector<std::size_t>& neighbours, std::size_t most, std::uint64_t seed) {
  RetainedMassSample result;
  if (points.empty() || rows.empty()) return result;
  const double row_cost =
      static_cast<double>(rows.size()) * (static_cast<double>(points.columns()) + 32);  // the exponential, the sort
  const auto count =
      std::clamp<std::size_t>(static_cast<std::size_t>(affordable / row_cost), least_rows, std::max(most, least_rows));
  for (const std::size_t place : sampled_rows(rows.size(), count, seed)) result.rows.push_back(rows[place]);
  const std::size_t measured = result.rows.size(), kinds = neighbours.size();
  std::vector<double> retained(measured * kinds), kernel;
  kernel.reserve(rows.size());
  points.visit([&](const auto& values) {
    for (std::size_t i = 0; i < measured; ++i)
      measure_row(values, points.columns(), rows, result.rows[i], beta, neighbours, kernel, &retained[i * kinds]);
  });
  for (std::size_t j = 0; j < kinds; ++j) {
    std::vector<double> column;
    for (std::size_t i = 0; i < measured; ++i) column.push_back(retained[i * kinds + j]);
    result.masses.push_back(summarised(neighbours[j], std::move(column)));
  }
  return result;
}

}  // namespace fd
