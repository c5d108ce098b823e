// The Gaussian profile exp(-beta r^2), written once for every back-end.
//
// Points are scaled once by sqrt(2 beta log2 e); then exp(-beta |x-y|^2) = 2^t with t = x.y - |x|^2/2 - |y|^2/2 = -|x-y|^2/2, and
// 2^t is split as 2^n 2^f, n integer and f in [-1/2, 1/2]. The polynomials for 2^f minimise the relative error
// (tools/exp2_coefficients.py): 7.5e-8 at degree 5 for fp32, 2.1e-16 at degree 10 for fp64. From a t in fixed point, n and a fraction in
// [0, 1) are there already: 2.6e-6 at degree 4, in 1 + the fraction.
#pragma once

#include <cmath>
#include <numbers>

namespace fd {

struct Gaussian {
  static double point_scale(double beta) { return std::sqrt(2 * beta * std::numbers::log2e); }
  static double value(double beta, double squared_distance) { return std::exp(-beta * squared_distance); }
};

template <class T>
struct Exp2;

template <>
struct Exp2<float> {
  static constexpr int degree = 5;
  static constexpr float coefficient[degree + 1] = {1.0000000716547141446f,    0.69314696706503521429f,
                                                    0.24022119723710719626f,   0.055507132718556442019f,
                                                    0.0096755413431213273895f, 0.0013276472631950876055f};
  static constexpr float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer and leaves that in the low bits
  static constexpr float lowest = -126.0f;     // smaller exponents count as this one: 2^-126 is nothing beside the diagonal's 1
  static constexpr int mantissa_bits = 23;
};

struct FixedExp2 {
  static constexpr int degree = 4;
  static constexpr double error = 2.6e-6;
  static constexpr float coefficient[degree + 1] = {0.50996422274985295426f, 0.31201603182553925691f, 0.166613381559142981f,
                                                    -0.0021252106177245130763f, 0.013534167848370630798f};
};

template <>
struct Exp2<double> {
  static constexpr int degree = 10;
  static constexpr double coefficient[degree + 1] = {
      1.0000000000000000661,   0.69314718055994977507,   0.24022650695908767799,    0.055504108664458833193,
      0.009618129108034588692, 0.0013333558228561475528, 0.00015403529961135955451, 0.000015252658116561384328,
      1.321566283184610283e-6, 1.0208537904552163897e-7, 7.0372795305828035197e-9};
  static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double lowest = -1022.0;
  static constexpr int mantissa_bits = 52;
};

}  // namespace fd
