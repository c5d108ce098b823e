// mma as the hardware does it.
//
// As measured (MMA-Sim; Khattak and Mikaitis, arXiv 2512.07004): products of 16-bit floats and of tf32 are exact; they and the accumulator are
// aligned to the largest exponent among them, cut (not rounded) after 24 fractional bits on sm_80 and 25 on sm_90 to 120, summed exactly, and the
// sum is cut to fp32. sm_80 takes 8 terms of 16-bit floats at a time and 4 of tf32, later ones 16 and 8. fp64 is a chain of fma.
#include <algorithm>
#include <limits>

#include "machine/block.hpp"
#include "opcodes/lanes.hpp"

namespace softgpu::FD_SOFTGPU_SET {

namespace {

typedef float Float8 __attribute__((vector_size(32)));
typedef i32 Int8 __attribute__((vector_size(32)));
typedef double Double8 __attribute__((vector_size(64)));
typedef i64 Long8 __attribute__((vector_size(64)));

inline __attribute__((always_inline)) void exponents(const float* v, i32* e, int n, i32 smallest) {
  // a number below the smallest normal one keeps that one's exponent; zero has none
  for (int k = 0; k < n; ++k) {
    const i32 field = static_cast<i32>(std::bit_cast<u32>(v[k]) >> 23 & 255);
    e[k] = field == 0 ? -1000 : std::max(field - 127, smallest);
  }
}

// One sum of any finite size, in integers: sum_k floor(|p_k| 2^(bits - top)), each with its sign, times 2^(top - bits), cut to fp32.
float exact_sum(const float* a, const float* b, int stride, int n, float c, int bits, int smallest) {
  int top = std::max(static_cast<int>(std::bit_cast<u32>(c) >> 23 & 255), 1) - 127;
  double special = c;
  for (int k = 0; k < n; ++k) {
    i32 e[2];
    exponents(&a[k], &e[0], 1, smallest);
    exponents(&b[k * stride], &e[1], 1, smallest);
    top = std::max(top, e[0] + e[1]);
    special += static_cast<double>(a[k]) * b[k * stride];
  }
  if (!(std::fabs(special) <= std::numeric_limits<double>::max()))
    return special != special ? std::bit_cast<float>(0x7fffffffu) : static_cast<float>(special);
  const double scale =
      std::bit_cast<double>(static_cast<u64>(1023 + bits - top) << 52);  // products with it are exact: top is within 2 * 127
  i64 sum = static_cast<i64>(static_cast<double>(c) * scale);
  for (int k = 0; k < n; ++k) sum += static_cast<i64>(static_cast<double>(a[k]) * b[k * stride] * scale);
  u64 magnitude = static_cast<u64>(sum < 0 ? -sum : sum);
  int exponent = top - bits;
  const int drop = std::min(std::max({0, static_cast<int>(std::bit_width(magnitude)) - 24, -149 - exponent}), 63);
  magnitude >>= drop, exponent += drop;
  if (magnitude == 0) return sum < 0 ? -0.f : 0.f;
  const float r = std::ldexp(static_cast<float>(magnitude), exponent);
  return sum < 0 ? -r : r;
}

template <int K>
void dot_products(const float (*a)[16], const float (*b)[8], float (&c)[16][8], int bits, int smallest) {
  i32 eb[K][8];
  for (int k = 0; k < K; ++k) exponents(b[k], eb[k], 8, smallest);
  for (int r = 0; r < 16; ++r) {
    i32 ea[K];
    exponents(a[r], ea, K, smallest);
    i32 top[8];
    for (int n = 0; n < 8; ++n) {
      const i32 field = static_cast<i32>(std::bit_cast<u32>(c[r][n]) >> 23 & 255);
      top[n] = (field == 0 ? 1 : field) - 127;
    }
    for (int k = 0; k < K; ++k)
      for (int n = 0; n < 8; ++n) top[n] = std::max(top[n], ea[k] + eb[k][n]);
    bool plain = true;
    for (int n = 0; n < 8; ++n) plain &= top[n] < 96 && top[n] > -96;
    if (!plain) {
      for (int n = 0; n < 8; ++n) c[r][n] = exact_sum(a[r], &b[0][n], 8, K, c[r][n], bits, smallest);
      continue;
    }
    Float8 cv;
    Int8 tv;
    std::memcpy(&cv, c[r], 32);
    std::memcpy(&tv, top, 32);
    const Float8 scale = (Float8)((bits - tv + 127) << 23), back = (Float8)((tv - bits + 127) << 23);
    Double8 sum = __builtin_convertvector(__builtin_convertvector(cv * scale, Int8), Double8);
    for (int k = 0; k < K; k += 4) {  // four terms fit 32 bits: each is below 2^27
      Int8 part = {};
      for (int h = 0; h < 4; ++h) {
        Float8 bv;
        std::memcpy(&bv, b[k + h], 32);
        part += __builtin_convertvector(bv * a[r][k + h] * scale, Int8);
      }
      sum += __builtin_convertvector(part, Double8);
    }
    sum *= __builtin_convertvector(back, Double8);
    const Float8 cut = __builtin_convertvector((Double8)((Long8)sum & ~((i64(1) << 29) - 1)), Float8);
    std::memcpy(c[r], &cut, 32);
  }
}

inline void whole_warp(Warp& w, u32 m, const char* what) {
  if (m != ~0u)
    w.block->fault(w, std::countr_zero(~m), Error::launch_failed,
                   std::string(what) + " in divergent code: only a part of the warp is here");
}

// c of 16 x 8: elements 0 and 1 in row lane / 4, 2 and 3 eight rows below, columns 2 (lane % 4) and the next.
template <int K, int Step80>
void accumulate(Warp& w, const Instruction& i, int first, const float (&a)[16][16], const float (&b)[16][8], int smallest) {
  float c[16][8];
  for (int e = 0; e < 4; ++e) {
    const float* p = w.from<float>(i.s[first + e]);
    for (int l = 0; l < Lanes; ++l) c[l / 4 + 8 * (e / 2)][2 * (l % 4) + e % 2] = p[l];
  }
  if (w.block->launch.capability >= 90) {
    dot_products<K>(a, b, c, 25, smallest);
  } else {
    for (int k = 0; k < K; k += Step80)
      dot_products<Step80>(reinterpret_cast<const float(*)[16]>(&a[0][k]), &b[k], c, 24, smallest);
  }
  for (int e = 0; e < 4; ++e) {
    float* d = w.to<float>(i.d[e]);
    for (int l = 0; l < Lanes; ++l) d[l] = c[l / 4 + 8 * (e / 2)][2 * (l % 4) + e % 2];
  }
}
template <bool Brain, int K>
void mma_16(Warp& w, const Instruction& i, u32 m) {
  whole_warp(w, m, "mma");
  alignas(32) float a[16][16], b[16][8];
  constexpr int na = K / 4, nb = K / 8;
  const auto number = [](u16 v) { return Brain ? brain_value(v) : half_value(v); };
  for (int e = 0; e < na; ++e) {
    const u16* p = w.from<u16>(i.s[e]);
    float f[64];
    for (int l = 0; l < 64; ++l) f[l] = number(p[l]);
    for (int l = 0; l < Lanes; ++l)
      a[l / 4 + 8 * (e % 2)][8 * (e / 2) + 2 * (l % 4)] = f[2 * l],
                                                    a[l / 4 + 8 * (e % 2)][8 * (e / 2) + 2 * (l % 4) + 1] = f[2 * l + 1];
  }
  for (int e = 0; e < nb; ++e) {
    const u16* p = w.from<u16>(i.s[na + e]);
    float f[64];
    for (int l = 0; l < 64; ++l) f[l] = number(p[l]);
    for (int l = 0; l < Lanes; ++l) b[8 * e + 2 * (l % 4)][l / 4] = f[2 * l], b[8 * e + 2 * (l % 4) + 1][l / 4] = f[2 * l + 1];
  }
  accumulate<K, 8>(w, i, na + nb, a, b, Brain ? -126 : -14);
}
template <int K>
void mma_tf32(Warp& w, const Instruction& i, u32 m) {  // the lower 13 bits of the operands are not looked at
  whole_warp(w, m, "mma");
  alignas(32) float a[16][16], b[16][8];
  constexpr int na = K / 2, nb = K / 4;
  for (int e = 0; e < na; ++e) {
    const u32* p = w.from<u32>(i.s[e]);
    for (int l = 0; l < Lanes; ++l) a[l / 4 + 8 * (e % 2)][l % 4 + 4 * (e / 2)] = std::bit_cast<float>(p[l] & 0xffffe000);
  }
  for (int e = 0; e < nb; ++e) {
    const u32* p = w.from<u32>(i.s[na + e]);
    for (int l = 0; l < Lanes; ++l) b[l % 4 + 4 * e][l / 4] = std::bit_cast<float>(p[l] & 0xffffe000);
  }
  accumulate<K, 4>(w, i, na + nb, a, b, -126);
}
// Rows: 8 or 16. A of m8n8k4: row lane / 4, column lane % 4; of 16 rows the pieces alternate rows + 8 and columns + 4.
template <int Rows, int K>
void mma_f64(Warp& w, const Instruction& i, u32 m) {
  whole_warp(w, m, "mma");
  double a[16][16], b[16][8], c[16][8];
  constexpr int na = Rows * K / Lanes, nb = K / 4, nc = Rows / 4;
  for (int e = 0; e < na; ++e) {
    const double* p = w.from<double>(i.s[e]);
    for (int l = 0; l < Lanes; ++l) (Rows == 8 ? a[l / 4][l % 4] : a[l / 4 + 8 * (e % 2)][l % 4 + 4 * (e / 2)]) = p[l];
  }
  for (int e = 0; e < nb; ++e) {
    const double* p = w.from<double>(i.s[na + e]);
    for (int l = 0; l < Lanes; ++l) b[l % 4 + 4 * e][l / 4] = p[l];
  }
  for (int e = 0; e < nc; ++e) {
    const double* p = w.from<double>(i.s[na + nb + e]);
    for (int l = 0; l < Lanes; ++l) c[l / 4 + 8 * (e / 2)][2 * (l % 4) + e % 2] = p[l];
  }
  for (int r = 0; r < Rows; ++r)
    for (int k = 0; k < K; ++k)
      for (int n = 0; n < 8; ++n) c[r][n] = std::fma(a[r][k], b[k][n], c[r][n]);
  for (int e = 0; e < nc; ++e) {
    double* d = w.to<double>(i.d[e]);
    for (int l = 0; l < Lanes; ++l) d[l] = c[l / 4 + 8 * (e / 2)][2 * (l % 4) + e % 2];
  }
}

Handler choose(Instruction& i, const Opcode& o) {
  if (!o.has("row") || !o.has("col") || o.parts.size() < 10) return nullptr;
  const std::string& shape = o.parts[3];
  const std::string kinds = o.parts[6] + " " + o.parts[7] + " " + o.parts[8] + " " + o.parts[9];
  const auto operands = [&](int results, int sources) { return i.results == results && i.sources == sources; };
  if (kinds == "f32 f16 f16 f32") {
    if (shape == "m16n8k16" && operands(4, 10)) return mma_16<false, 16>;
    if (shape == "m16n8k8" && operands(4, 7)) return mma_16<false, 8>;
  } else if (kinds == "f32 bf16 bf16 f32") {
    if (shape == "m16n8k16" && operands(4, 10)) return mma_16<true, 16>;
    if (shape == "m16n8k8" && operands(4, 7)) return mma_16<true, 8>;
  } else if (kinds == "f32 tf32 tf32 f32") {
    if (shape == "m16n8k8" && operands(4, 10)) return mma_tf32<8>;
    if (shape == "m16n8k4" && operands(4, 7)) return mma_tf32<4>;
  } else if (kinds == "f64 f64 f64 f64") {
    if (shape == "m8n8k4" && operands(2, 4)) return mma_f64<8, 4>;
    if (shape == "m16n8k4" && operands(4, 7)) return mma_f64<16, 4>;
    if (shape == "m16n8k8" && operands(4, 10)) return mma_f64<16, 8>;
    if (shape == "m16n8k16" && operands(4, 16)) return mma_f64<16, 16>;
  }
  return nullptr;
}

}  // namespace

const std::vector<Row>& matrix_rows() {
  static const std::vector<Row> rows = {{"mma", "sync aligned", "v:vvv", tensor, choose}};
  return rows;
}

}  // namespace softgpu::FD_SOFTGPU_SET
