// What this machine's arithmetic allows, measured now: the yardstick of `flashdiffusion-bench xgemm`.
#pragma once

#include <cstddef>
#include <string>

#include <flashdiffusion/precision.hpp>

#include "device/machine_limit.hpp"

namespace fd::cli {

// About a tenth of a second of measurement. `isa` and `threads` as for the cpu back-end.
MachineLimit measure_machine_limit(const std::string& isa, Precision precision, int threads);

// The kernels' own exponential, e_i = 2^t_i for t that do not underflow, for a peer that brings only its matrix products.
using Exp2Array = void (*)(const float* t, float* e, std::size_t count);
Exp2Array exp2_near_f32(const std::string& isa);

}  // namespace fd::cli
