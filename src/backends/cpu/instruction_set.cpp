#include "backends/cpu/targets.hpp"

#include "backends/cpu/instruction_set.hpp"

#include <array>
#include <cstdlib>
#include <mutex>

#include <hwy/targets.h>

#include <flashdiffusion/error.hpp>

namespace fd::cpu {
namespace {

struct Name {
  const char* name;
  long long target;
};

constexpr std::array<Name, 5> names = {
    {{"avx512", HWY_AVX3}, {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}, {"neon", HWY_NEON}, {"scalar", HWY_SCALAR | HWY_EMU128}}};

long long supported() { return hwy::SupportedTargets() & HWY_TARGETS; }

}  // namespace

std::vector<std::string> available_instruction_sets() {
  std::vector<std::string> here;
  for (const auto& [name, target] : names)
    if ((supported() & target) != 0) here.emplace_back(name);
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
  for (const auto& [name, target] : names) {
    if (isa != name) continue;
    if ((supported() & target) == 0) break;
    // Highway's choice is one for the process; it is made, read and undone under a lock, so back-ends may differ.
    static std::mutex lock;
    const std::lock_guard guard(lock);
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    ChosenKernels chosen{isa, chosen_kernels(static_cast<const float*>(nullptr)),
                         chosen_kernels(static_cast<const double*>(nullptr))};
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return chosen;
  }
  throw Error(Failure::device, "instruction set '" + isa + "' is not available here", "use one of " + list);
}

}  // namespace fd::cpu
