#include "flow/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <flashdiffusion/error.hpp>

#include "base/random.hpp"

namespace fd {
namespace {

constexpr std::uint64_t sample_stream = 0x6c616464;

}  // namespace

std::vector<Rung> rungs(std::size_t n, std::size_t smallest, double ratio, const std::vector<Precision>& cascade) {
  if (!(ratio > 1)) throw Error(Failure::misuse, "the ladder needs a ratio above 1 between its rungs");
  if (cascade.empty())
    throw Error(Failure::misuse, "the cascade names no precision", "give at least one `precision`, such as fp32");
  std::vector<std::size_t> below;
  for (double size = static_cast<double>(n) / ratio; size >= static_cast<double>(std::max<std::size_t>(smallest, 1));
       size /= ratio)
    below.insert(below.begin(), static_cast<std::size_t>(std::llround(size)));
  below.erase(std::unique(below.begin(), below.end()), below.end());
  std::vector<Rung> result;
  for (std::size_t level = 0; level < cascade.size(); ++level) {
    const bool last = level + 1 == cascade.size();
    if (!below.empty() && level == 0)
      for (std::size_t size : below) result.push_back({size, cascade[level]});
    else if (!below.empty()) result.push_back({below.back(), cascade[level]});
    if (last || below.empty()) result.push_back({n, cascade[level]});
  }
  return result;
}

// Row i has the key Philox(seed, i); the sample is the n rows of least key. The n-th key is found on a copy of the keys, the
// rows at or below it are then met in ascending order. Keys of 64 bits: that two rows have the one at the end is out of the question.
std::vector<std::size_t> nested_sample(std::size_t total, std::size_t n, std::uint64_t seed) {
  if (n > total) throw Error(Failure::misuse, "a sample of " + std::to_string(n) + " rows was asked of " + std::to_string(total));
  std::vector<std::size_t> sample;
  if (n == 0) return sample;
  sample.reserve(n);
  const Random random(seed, sample_stream);
  const auto key = [&](std::size_t row) {
    const auto b = random.bits(row);
    return std::uint64_t{b[0]} << 32 | b[1];
  };
  std::uint64_t largest = 0;
  {
    std::vector<std::uint64_t> keys(total);
    for (std::size_t row = 0; row < total; ++row) keys[row] = key(row);
    const auto nth = keys.begin() + static_cast<std::ptrdiff_t>(n - 1);
    std::nth_element(keys.begin(), nth, keys.end());
    largest = *nth;
  }
  for (std::size_t row = 0; row < total && sample.size() < n; ++row)
    if (key(row) <= largest) sample.push_back(row);
  return sample;
}

Exponent fit_exponent(const Optima& optima) {
  return power_law(std::vector<std::pair<double, double>>(optima.begin(), optima.end()));
}

bool rungs_agree(const Optima& optima) {
  constexpr double noise = 0.05, range = 0.4;  // 2 / (1 + 4) to 0
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 1; i < optima.size(); ++i) {
    const double exponent = std::log(optima[i].second / optima[i - 1].second) /
                            std::log(static_cast<double>(optima[i].first) / static_cast<double>(optima[i - 1].first));
    least = std::min(least, exponent);
    most = std::max(most, exponent);
  }
  return optima.size() < 2 || (least >= -noise && most - least <= range);
}

double carried_beta(const Optima& optima, std::size_t next_n, double d_hat) {
  if (optima.empty()) throw Error(Failure::misuse, "there is no smaller rung to carry a bandwidth from");
  double exponent = 2 / (std::max(std::isfinite(d_hat) ? d_hat : 6.0, 0.0) + 5);
  if (optima.size() >= 2) {
    const std::size_t used = std::min<std::size_t>(optima.size(), 3);
    const double fitted = fit_exponent(Optima(optima.end() - static_cast<std::ptrdiff_t>(used), optima.end())).value;
    if (std::isfinite(fitted)) exponent = std::clamp(fitted, 0.0, 0.5);
  }
  const auto& [n, beta] = optima.back();
  return beta * std::pow(static_cast<double>(next_n) / static_cast<double>(n), exponent);
}

}  // namespace fd
