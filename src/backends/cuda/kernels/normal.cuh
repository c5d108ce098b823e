// The random numbers of base/random.hpp: Philox bits exactly, and Box-Muller in fp64 with a logarithm and a cosine of our own, each right to little
// more than half a unit of the last place (what fdlibm does, for these arguments alone), so that the numbers are those of the host but for the last bit.
#pragma once
#include <cstdint>

namespace fd::cuda {

__device__ __forceinline__ void philox(uint64_t seed, uint64_t stream, uint64_t index, uint32_t (&c)[4]) {
  c[0] = (uint32_t)index, c[1] = (uint32_t)(index >> 32), c[2] = (uint32_t)stream, c[3] = (uint32_t)(stream >> 32);
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53 * c[0], p1 = (uint64_t)0xCD9E8D57 * c[2];
    const uint32_t c0 = (uint32_t)(p1 >> 32) ^ c[1] ^ k0, c2 = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
    c[1] = (uint32_t)p1, c[3] = (uint32_t)p0, c[0] = c0, c[2] = c2;
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
}

// log u, 2^-53 <= u < 1. With u = 2^e (1 + f), f from sqrt(1/2) - 1 to sqrt(2) - 1, s = f / (2 + f): log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)).
__device__ __forceinline__ double log_of(double u) {
  int high = __double2hiint(u);
  int e = (high >> 20) - 1023;
  high = (high & 0xfffff) | 0x3ff00000;
  if (high >= 0x3ff6a09f) high -= 0x100000, ++e;
  const double f = __hiloint2double(high, __double2loint(u)) - 1;
  const double s = f / (2 + f), z = s * s;
  double r = 1.479819860511658591e-01;
  r = fma(r, z, 1.531383769920937332e-01);
  r = fma(r, z, 1.818357216161805012e-01);
  r = fma(r, z, 2.222219843214978396e-01);
  r = fma(r, z, 2.857142874366239149e-01);
  r = fma(r, z, 3.999999999940941908e-01);
  r = fma(r, z, 6.666666666666735130e-01);
  r *= z;
  // f^2/2 = h + d exactly, f - h in two parts, so that only what is small is rounded more than once
  const double h = 0.5 * f * f, d = fma(0.5 * f, f, -h);
  const double difference = f - h, below = (f - difference) - h;
  const double small = s * (h + r) - d + below + e * 1.90821492927058770002e-10;
  const double whole = e * 6.93147180369123816490e-01;  // exact: ln 2 with its last 32 bits zero
  const double sum = whole + difference, error = fabs(whole) > fabs(difference) ? (whole - sum) + difference : (difference - sum) + whole;
  return sum + (error + small);
}

// cos a, 0 <= a < 7, as a = k pi/2 + r, r in two parts
__device__ __forceinline__ double cos_of(double a) {
  const double k = rint(a * 6.36619772367581382433e-01);
  const double r0 = fma(-k, 1.57079632679489655800e+00, a);
  const double low = k * 6.12323399573676603587e-17;
  const double r = r0 - low, t = (r0 - r) - low, z = r * r;
  const int quadrant = static_cast<int>(k) & 3;
  double value;
  if (quadrant & 1) {
    double p = 1.58969099521155010221e-10;
    p = fma(p, z, -2.50507602534068634195e-08);
    p = fma(p, z, 2.75573137070700676789e-06);
    p = fma(p, z, -1.98412698298579493134e-04);
    p = fma(p, z, 8.33333333332248946124e-03);
    const double v = z * r;
    value = r - ((z * (0.5 * t - v * p) - t) - v * -1.66666666666666324348e-01);
  } else {
    double p = -1.13596475577881948265e-11;
    p = fma(p, z, 2.08757232129817482790e-09);
    p = fma(p, z, -2.75573143513906633035e-07);
    p = fma(p, z, 2.48015872894767294178e-05);
    p = fma(p, z, -1.38888888888741095749e-03);
    p = fma(p, z, 4.16666666666666019037e-02);
    const double half = 0.5 * z, one = 1 - half;
    value = one + (((1 - one) - half) + (z * z * p - r * t));
  }
  return quadrant == 1 || quadrant == 2 ? -value : value;
}

__device__ __forceinline__ double normal(uint64_t seed, uint64_t stream, uint64_t index) {
  uint32_t b[4];
  philox(seed, stream, index, b);
  const double u = ((double)((uint64_t)b[0] << 20 ^ b[1]) + 0.5) * 0x1p-52, v = ((double)((uint64_t)b[2] << 20 ^ b[3]) + 0.5) * 0x1p-52;
  return sqrt(-2 * log_of(u)) * cos_of(6.283185307179586232 * v);
}

}  // namespace fd::cuda
