#include "analysis/sampled_support.hpp"

#include <algorithm>

#include "analysis/support_meter.hpp"
#include "base/sample.hpp"

namespace fd {
namespace {

// Coordinates evaluated within a fraction of a second by one thread.
constexpr double affordable = 2e8;
constexpr std::size_t least_rows = 16;
constexpr std::size_t sampled_piece = 1024;  // rows at a time

}  // namespace

KernelSupport sampled_support(const Table& points, const std::vector<std::size_t>& rows, double beta,
                              const std::vector<std::size_t>& neighbours, std::size_t most, std::uint64_t seed) {
  if (points.empty() || rows.empty()) return {};
  const std::size_t dimension = points.columns();
  const double row_cost =
      static_cast<double>(rows.size()) * (static_cast<double>(dimension) + 32);  // the exponential, the selection
  const auto count =
      std::clamp<std::size_t>(static_cast<std::size_t>(affordable / row_cost), least_rows, std::max(most, least_rows));
  std::vector<std::size_t> measured;
  for (const std::size_t place : sampled_rows(rows.size(), count, seed)) measured.push_back(rows[place]);
  const auto gathered = [&](const std::size_t* some, std::size_t number) {
    std::vector<double> values(number * dimension);
    for (std::size_t i = 0; i < number; ++i) points.view().read(some[i], 1, &values[i * dimension]);
    return values;
  };
  SupportMeter meter(gathered(measured.data(), measured.size()), dimension, beta, neighbours, {});
  for (std::size_t first = 0; first < rows.size(); first += sampled_piece) {
    const std::size_t here = std::min(sampled_piece, rows.size() - first);
    meter.add(gathered(&rows[first], here).data(), here);
  }
  KernelSupport result = meter.result();
  result.rows = std::move(measured);
  return result;
}

}  // namespace fd
