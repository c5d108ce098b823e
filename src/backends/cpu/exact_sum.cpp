#include "backends/cpu/exact_sum.hpp"

#include <cmath>

namespace fd::cpu {

ExactSum exact_multiple(double scale, ExactSum x) {
  const double high = scale * x.high;
  return {high, std::fma(scale, x.high, -high) + scale * x.low};
}

}  // namespace fd::cpu
