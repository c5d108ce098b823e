// 2^t in fp64 for t <= 1 or so, to 2.1e-16: the polynomial of kernel/gaussian.hpp. Below 2^-1022 it is 0.
#pragma once
#include "kernel/gaussian.hpp"

namespace fd::cuda {

// 2^n for a whole n from -1022 to 1023
__device__ __forceinline__ double power_of_two(int n) { return __hiloint2double((n + 1023) << 20, 0); }

// sum over k >= K of coefficient[k] f^(k - K)
template <int K>
__device__ __forceinline__ double exp2_polynomial(double f) {
  constexpr double coefficient = Exp2<double>::coefficient[K];
  if constexpr (K == Exp2<double>::degree) return coefficient;
  else return fma(exp2_polynomial<K + 1>(f), f, coefficient);
}

__device__ __forceinline__ double exp2_double(double t) {
  if (!(t >= Exp2<double>::lowest)) return 0;
  const double n = rint(t), f = t - n;
  return exp2_polynomial<0>(f) * power_of_two(static_cast<int>(n));
}

}  // namespace fd::cuda
