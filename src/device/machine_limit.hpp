// What a machine's arithmetic allows: a symmetric pass over N^2 pairs cannot take less than (D/2 + b) multiply-adds and half an
// exponential a pair. Does not know: what is kept from pass to pass, which saves the D/2, nor what is left out because it is negligible.
#pragma once

#include <algorithm>
#include <limits>

namespace fd {

struct MachineLimit {
  double flops = 0;  // a second, multiply-adds counted as two, all threads together; 0: not known
  double exp_seconds = std::numeric_limits<double>::infinity();  // of one exponential, all threads together

  bool known() const { return flops > 0; }
  double seconds_per_pair(double dimension, double columns) const {
    return (dimension / 2 + columns) * 2 / flops + exp_seconds / 2;
  }
};

// Of two measurements, what nothing disturbed.
inline MachineLimit better(const MachineLimit& a, const MachineLimit& b) {
  return {std::max(a.flops, b.flops), std::min(a.exp_seconds, b.exp_seconds)};
}

}  // namespace fd
