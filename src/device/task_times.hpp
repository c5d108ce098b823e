// How long the tasks of kernel passes took, one by one, for benchmarks: a pass lasts long enough to be disturbed by whatever else the
// machine does, most of its tasks do not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace fd {

class TaskTimes {
 public:
  explicit TaskTimes(int threads) : seconds_per_pair_(static_cast<std::size_t>(threads)) {}

  // Runs the work of `pairs` ordered pairs on a worker and notes its time.
  template <class F>
  void time(int worker, double pairs, F&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (pairs > 0) seconds_per_pair_[static_cast<std::size_t>(worker)].push_back(seconds / pairs);
  }

  // Seconds a pair, all threads together, at a tenth of the way from the fastest task to the slowest.
  double fastest_tenth() const {
    std::vector<double> all;
    for (const auto& one : seconds_per_pair_) all.insert(all.end(), one.begin(), one.end());
    if (all.empty()) return 0;
    const auto tenth = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10);
    std::nth_element(all.begin(), tenth, all.end());
    return *tenth / static_cast<double>(seconds_per_pair_.size());
  }

 private:
  std::vector<std::vector<double>> seconds_per_pair_;  // of each worker
};

}  // namespace fd
