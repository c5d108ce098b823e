// Instruction sets by the names users see: amx, avx512vnni, avx512, avx2, sse4, neon, scalar.
#pragma once

#include <string>
#include <vector>

#include "backends/cpu/tile_pass.hpp"

namespace fd::cpu {

struct ChosenKernels {
  std::string isa;
  const TileKernels<float>* f32;
  const TileKernels<double>* f64;
};

std::vector<std::string> available_instruction_sets();  // on this machine, best first

// Empty: FLASHDIFFUSION_ISA, else the best. Throws Error(device) for one that is unknown or not here.
ChosenKernels choose_kernels(std::string isa);

}  // namespace fd::cpu
