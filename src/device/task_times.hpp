// How long the tasks of kernel passes took, one by one, for benchmarks: a pass lasts long enough to be disturbed by whatever else the
// machine does, most of its tasks do not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

namespace fd {

class TaskTimes {
 public:
  explicit TaskTimes(int threads)
      : seconds_per_pair_(static_cast<std::size_t>(threads)), busy_(static_cast<std::size_t>(threads), 0.0) {}

  // Runs the work of `pairs` ordered pairs on a worker and notes its time; of tasks unlike the others, for which 0 stands, only that.
  template <class F>
  void time(int worker, double pairs, F&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    busy_[static_cast<std::size_t>(worker)] += seconds;
    if (pairs > 0) seconds_per_pair_[static_cast<std::size_t>(worker)].push_back(seconds / pairs);
  }

  // Seconds spent in tasks, a thread. What passes took beyond it went into packing, adding up, and waiting for one another.
  double busy() const {
    double all = 0;
    for (const double one : busy_) all += one;
    return all / static_cast<double>(busy_.size());
  }

  // Seconds a pair, all threads together, at a tenth of the way from the fastest task to the slowest; NaN where no task was timed.
  double fastest_tenth() const {
    std::vector<double> all;
    for (const auto& one : seconds_per_pair_) all.insert(all.end(), one.begin(), one.end());
    if (all.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto tenth = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10);
    std::nth_element(all.begin(), tenth, all.end());
    return *tenth / static_cast<double>(seconds_per_pair_.size());
  }

 private:
  std::vector<std::vector<double>> seconds_per_pair_;  // of each worker
  std::vector<double> busy_;
};

}  // namespace fd
