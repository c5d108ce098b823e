// What this machine's arithmetic allows, measured now: the yardstick of `flashdiffusion-bench xgemm`. A symmetric pass over N^2 pairs cannot take
// less than (D/2 + b) multiply-adds and half an exponential a pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include <flashdiffusion/precision.hpp>

namespace fd::cli {

struct MachineLimit {
  double flops = 0;                                              // a second, multiply-adds counted as two, all threads together
  double exp_seconds = std::numeric_limits<double>::infinity();  // of one exponential, all threads together

  double seconds_per_pair(double dimension, double columns) const {
    return (dimension / 2 + columns) * 2 / flops + exp_seconds / 2;
  }
};

// Of two measurements, what nothing disturbed.
inline MachineLimit better(const MachineLimit& a, const MachineLimit& b) {
  return {std::max(a.flops, b.flops), std::min(a.exp_seconds, b.exp_seconds)};
}

// About a tenth of a second of measurement. `isa` and `threads` as for the cpu back-end.
MachineLimit measure_machine_limit(const std::string& isa, Precision precision, int threads);

// The kernels' own exponential, e_i = 2^t_i for t that do not underflow, for a peer that brings only its matrix products.
using Exp2Array = void (*)(const float* t, float* e, std::size_t count);
Exp2Array exp2_near_f32(const std::string& isa);

}  // namespace fd::cli
