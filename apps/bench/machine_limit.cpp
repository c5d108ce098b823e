#include "bench/machine_limit.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>

#include "backends/cpu/instruction_set.hpp"
#include "base/aligned_buffer.hpp"
#include "base/team.hpp"

namespace fd::cli {
namespace {

// The fastest of many short runs: a limit is what the machine does when nothing disturbs it.
double seconds_of(Team& team, const std::function<void()>& work) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 25; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    team.run(static_cast<std::size_t>(team.threads()), [&](std::size_t, int) { work(); });
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return fastest;
}

template <class T>
MachineLimit measure(const cpu::TileKernels<T>& kernels, Team& team) {
  MachineLimit limit;
  const double threads = team.threads();
  constexpr std::size_t rounds = 200'000;
  std::atomic<double> keep{0};
  const double fma = seconds_of(team, [&] { keep.store(static_cast<double>(kernels.multiply_adds(rounds))); });
  limit.flops = threads * 2 * static_cast<double>(rounds) * static_cast<double>(kernels.multiply_adds_a_round) / fma;
  constexpr std::size_t count = 1152, repeats = 1000;  // 4 to 9 kB: stays in first-level cache
  const double exponentials = seconds_of(team, [&] {
    AlignedBuffer<T> t(count), e(count);
    for (std::size_t i = 0; i < count; ++i) t[i] = static_cast<T>(-20.0 * static_cast<double>(i) / count);
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) kernels.exp2_near(t.data(), e.data(), count);
    keep.store(static_cast<double>(e[7]));
  });
  limit.exp_seconds = exponentials / (threads * count * repeats);
  return limit;
}

}  // namespace

MachineLimit measure_machine_limit(const std::string& isa, Precision precision, int threads) {
  const auto kernels = cpu::choose_kernels(isa);
  Team team(threads);
  return traits(precision).wide_panels ? measure(*kernels.f64, team) : measure(*kernels.f32, team);
}

Exp2Array exp2_near_f32(const std::string& isa) { return cpu::choose_kernels(isa).f32->exp2_near; }

}  // namespace fd::cli
