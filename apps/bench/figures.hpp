// What benchmarks do with numbers: times of work, their median and spread, and figures as they are shown. A figure that is not a finite
// number is null in JSON and "-" in a table, never 0.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fd::cli {

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of the processor, over all threads: what other programs on a shared machine do not disturb.
inline double processor_seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

struct Sample {
  double median, spread, best;  // spread: half the range over the median
};

inline Sample sample_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  return {median, 0.5 * (seconds.back() - seconds.front()) / median, seconds.front()};
}

inline nlohmann::ordered_json figure(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

// `format` as of fmt, for a double.
inline std::string figure_text(const nlohmann::ordered_json& value, const char* format) {
  return value.is_null() ? "-" : fmt::format(fmt::runtime(format), value.get<double>());
}

}  // namespace fd::cli
