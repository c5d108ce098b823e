#include "analysis/support_meter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/squared_distances.hpp"

namespace fd {
namespace {

constexpr double farthest_exponent = 80;
constexpr std::size_t chunk = 512;  // squared distances at a time

}  // namespace

SupportMeter::SupportMeter(std::vector<double> queries, std::size_t dimension, double beta, std::vector<std::size_t> neighbours,
                           std::vector<double> tolerances)
    : queries_(std::move(queries)),
      dimension_(dimension),
      beta_(beta),
      neighbours_(std::move(neighbours)),
      tolerances_(std::move(tolerances)),
      rows_(queries_.size() / dimension) {
  for (const double tau : tolerances_) reach_.push_back(std::log(1 / tau) / beta);
  for (const std::size_t k : neighbours_) most_ = std::max(most_, k);
  for (Row& row : rows_) {
    row.bound = std::numeric_limits<double>::infinity();
    row.counts.assign(tolerances_.size(), 0);
  }
}

void SupportMeter::measure(std::size_t index, const double* points, std::size_t count) {
  Row& row = rows_[index];
  const double* from = &queries_[index * dimension_];
  double squares[chunk];
  for (std::size_t first = 0; first < count; first += chunk) {
    const std::size_t here = std::min(chunk, count - first);
    squared_distances(from, points + first * dimension_, here, dimension_, squares);
    for (std::size_t t = 0; t < reach_.size(); ++t) {
      std::size_t within = 0;
      for (std::size_t j = 0; j < here; ++j) within += squares[j] <= reach_[t] ? 1 : 0;
      row.counts[t] += within;
    }
    for (std::size_t j = 0; j < here; ++j) {
      const double exponent = beta_ * squares[j];
      if (exponent <= farthest_exponent) row.mass += std::exp(-exponent);
      if (most_ == 0 || squares[j] > row.bound) continue;
      row.nearest.push_back(squares[j]);
      if (row.nearest.size() < 2 * most_ + 64) continue;
      const auto last = row.nearest.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
      std::nth_element(row.nearest.begin(), last, row.nearest.end());
      row.nearest.resize(most_);
      row.bound = row.nearest.back();
    }
  }
}

void SupportMeter::add(const double* points, std::size_t count, Team* team) {
  n_ += count;
  if (team != nullptr) team->run(rows_.size(), [&](std::size_t row, int) { measure(row, points, count); });
  else
    for (std::size_t row = 0; row < rows_.size(); ++row) measure(row, points, count);
}

// f_k of one row for each k: the nearest in order, summed from the smallest kernel value up, so that the order in which they passed by does
// not matter.
std::vector<double> SupportMeter::retained(const Row& row) const {
  std::vector<double> nearest = row.nearest;
  std::sort(nearest.begin(), nearest.end());
  std::vector<double> shares;
  for (const std::size_t k : neighbours_) {
    if (k >= n_) {
      shares.push_back(1);
      continue;
    }
    double sum = 0;
    for (std::size_t j = k; j-- > 0;) sum += std::exp(-beta_ * nearest[j]);
    shares.push_back(std::min(1.0, sum / row.mass));
  }
  return shares;
}

KernelSupport SupportMeter::result() const {
  KernelSupport result;
  result.n = n_;
  std::vector<double> masses;
  std::vector<std::vector<double>> shares(neighbours_.size()), counts(tolerances_.size());
  for (const Row& row : rows_) {
    masses.push_back(row.mass);
    const std::vector<double> kept = retained(row);
    for (std::size_t k = 0; k < kept.size(); ++k) shares[k].push_back(kept[k]);
    for (std::size_t t = 0; t < counts.size(); ++t) counts[t].push_back(static_cast<double>(row.counts[t]));
  }
  if (rows_.empty()) return result;
  result.row_mass = spread_of(std::move(masses));
  for (std::size_t k = 0; k < shares.size(); ++k) result.masses.push_back({neighbours_[k], spread_of(std::move(shares[k]))});
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const RowSpread spread = spread_of(std::move(counts[t]));
    result.counts.push_back({tolerances_[t], spread, spread.mean / static_cast<double>(n_)});
  }
  result.c2 = fitted_decay(result.masses);
  for (const RetainedMass& mass : result.masses)
    result.c2_departure =
        std::max(result.c2_departure, std::abs(mass.share.mean + std::expm1(-result.c2 * static_cast<double>(mass.neighbours))));
  if (std::isnan(result.c2)) result.c2_departure = result.c2;
  return result;
}

RowSpread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto at = [&](double share) { return values[static_cast<std::size_t>(std::lround(share * (count - 1)))]; };
  return {mean, count > 1 ? std::sqrt(squares / (count - 1) / count) : std::numeric_limits<double>::quiet_NaN(), at(0.05),
          at(0.95)};
}

double fitted_decay(const std::vector<RetainedMass>& masses) {
  std::size_t below = 0;
  for (const RetainedMass& mass : masses) below += mass.share.mean < 1 ? 1 : 0;
  if (below < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto missed = [&](double log_c) {
    double sum = 0;
    for (const RetainedMass& mass : masses) {
      const double off = mass.share.mean + std::expm1(-std::exp(log_c) * static_cast<double>(mass.neighbours));
      sum += off * off;
    }
    return sum;
  };
  // Each mean alone gives c = -log(1 - f) / k; the best lies among these, and near it the sum of squares has one minimum: golden section.
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const RetainedMass& mass : masses)
    if (mass.share.mean < 1) {
      const double own = std::log(-std::log1p(-mass.share.mean) / static_cast<double>(mass.neighbours));
      low = std::min(low, own), high = std::max(high, own);
    }
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  for (int step = 0; step < 80; ++step) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    (missed(a) < missed(b) ? high : low) = missed(a) < missed(b) ? b : a;
  }
  return std::exp((low + high) / 2);
}

}  // namespace fd
