#include "bench/machine_limit.hpp"

#include "backends/cpu/instruction_set.hpp"
#include "backends/cpu/measure_limit.hpp"
#include "base/team.hpp"

namespace fd::cli {

MachineLimit measure_machine_limit(const std::string& isa, Precision precision, int threads) {
  constexpr int repeats = 25;
  const auto kernels = cpu::choose_kernels(isa);
  Team team(threads);
  return traits(precision).wide_panels ? cpu::measure_limit(*kernels.f64, team, repeats)
                                       : cpu::measure_limit(*kernels.f32, team, repeats);
}

Exp2Array exp2_near_f32(const std::string& isa) { return cpu::choose_kernels(isa).f32->exp2_near; }

}  // namespace fd::cli
