#include "backends/cpu/targets.hpp"

#include "backends/cpu/instruction_set.hpp"

#include <array>
#include <cstdlib>

#include <hwy/targets.h>

#include <flashdiffusion/error.hpp>
#include "backends/cpu/amx.hpp"

namespace fd::cpu {
namespace {

// Asked once: a virtual machine answers it in some hundred microseconds.
long long supported_targets() {
  static const long long targets = hwy::SupportedTargets();
  return targets;
}

struct Name {
  const char* name;
  long long target;
  bool amx = false;

  bool is_here() const { return (supported_targets() & HWY_TARGETS & target) != 0 && (!amx || amx::available()); }
};

constexpr std::array<Name, 7> names = {{{"amx", HWY_AVX3_DL, true},
                                        {"avx512vnni", HWY_AVX3_DL},
                                        {"avx512", HWY_AVX3},
                                        {"avx2", HWY_AVX2},
                                        {"sse4", HWY_SSE4},
                                        {"neon", HWY_NEON},
                                        {"scalar", HWY_SCALAR | HWY_EMU128}}};

// The same kernels for points split in two 16-bit floats instead of fixed point.
const TileKernels<float>* with_amx(const TileKernels<float>& kernels) {
  static const TileKernels<float> table = [&] {
    TileKernels<float> copy = kernels;
    copy.few = Numbers::split;
    return copy;
  }();
  return &table;
}

}  // namespace

std::vector<std::string> available_instruction_sets() {
  std::vector<std::string> here;
  for (const Name& one : names)
    if (one.is_here()) here.emplace_back(one.name);
  return here;
}

ChosenKernels choose_kernels(std::string isa) {
  if (isa.empty()) {
    const char* wish = std::getenv("FLASHDIFFUSION_ISA");
    if (wish != nullptr) isa = wish;
  }
  const auto here = available_instruction_sets();
  if (isa.empty()) isa = here.front();
  std::string list;
  for (const auto& name : here) list += (list.empty() ? "" : ", ") + name;
  for (const Name& one : names) {
    if (isa != one.name) continue;
    if (!one.is_here()) break;
    ChosenKernels chosen{isa, kernels_of(one.target, static_cast<const float*>(nullptr)),
                         kernels_of(one.target, static_cast<const double*>(nullptr))};
    if (one.amx) chosen.f32 = with_amx(*chosen.f32);
    return chosen;
  }
  throw Error(Failure::device, "instruction set '" + isa + "' is not available here", "use one of " + list);
}

}  // namespace fd::cpu
