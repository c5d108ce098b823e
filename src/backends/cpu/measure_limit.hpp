// How fast the kernels' own multiply-adds and exponentials go where nothing else is in their way: the machine's limit, measured now.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>

#include "backends/cpu/instruction_set.hpp"
#include "base/aligned_buffer.hpp"
#include "base/team.hpp"
#include "device/machine_limit.hpp"

namespace fd::cpu {

// `repeats` runs of a millisecond or two each, of which the fastest counts: a limit is what the machine does when nothing disturbs it.
template <class T>
MachineLimit measure_limit(const TileKernels<T>& kernels, Team& team, int repeats) {
  const auto fastest = [&](const std::function<void()>& work) {
    double least = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      team.run(static_cast<std::size_t>(team.threads()), [&](std::size_t, int) { work(); });
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return least;
  };
  MachineLimit limit;
  const double threads = team.threads();
  constexpr std::size_t rounds = 200'000;
  std::atomic<double> keep{0};
  const double fma = fastest([&] { keep.store(static_cast<double>(kernels.multiply_adds(rounds))); });
  limit.flops = threads * 2 * static_cast<double>(rounds) * static_cast<double>(kernels.multiply_adds_a_round) / fma;
  constexpr std::size_t count = 1152, times = 1000;  // 4 to 9 kB: stays in first-level cache
  const double exponentials = fastest([&] {
    AlignedBuffer<T> t(count), e(count);
    for (std::size_t i = 0; i < count; ++i) t[i] = static_cast<T>(-20.0 * static_cast<double>(i) / count);
    for (std::size_t repeat = 0; repeat < times; ++repeat) kernels.exp2_near(t.data(), e.data(), count);
    keep.store(static_cast<double>(e[7]));
  });
  limit.exp_seconds = exponentials / (threads * count * times);
  return limit;
}

}  // namespace fd::cpu
