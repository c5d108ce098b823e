// Numbers as sums of two: high + low, low being what rounding took from high. For coordinates whose differences are far smaller
// than they.
#pragma once

namespace fd::cpu {

struct ExactSum {
  double high, low;
};

// a + b without a rounding (Knuth's two-sum).
inline ExactSum exact_sum(double a, double b) {
  const double high = a + b, of_b = high - a;
  return {high, (a - (high - of_b)) + (b - of_b)};
}

// scale x with twice the digits. Not inline: a compiler that merged its product into a caller's sum would count `low` twice.
ExactSum exact_multiple(double scale, ExactSum x);

}  // namespace fd::cpu
