// What handlers share: a loop over the lanes of a mask, choices by type, 16-bit floats.
//
// Arithmetic is written as plain loops over 32 lanes that a compiler turns into vector instructions; files that include this with
// FD_SOFTGPU_SET are compiled once an instruction set, into a namespace of that name.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "machine/warp.hpp"
#include "opcodes/table.hpp"

#ifndef FD_SOFTGPU_SET
#define FD_SOFTGPU_SET baseline
#endif

namespace softgpu::FD_SOFTGPU_SET {

template <class F>
inline __attribute__((always_inline)) void each(u32 mask,
                                                F f) {  // the full warp is the common case, and the compiler's vector loop
  if (mask == ~0u) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (int l = 0; l < Lanes; ++l) f(l);
  } else {
    for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
  }
}

// Integers that wrap are unsigned; `signed_too` keeps the sign for what depends on it.
template <class F>
Handler by_bits(const std::string& t, F f) {
  if (t == "u32" || t == "b32" || t == "s32") return f(u32{});
  if (t == "u64" || t == "b64" || t == "s64") return f(u64{});
  if (t == "u16" || t == "b16" || t == "s16") return f(u16{});
  return nullptr;
}
template <class F>
Handler by_integer(const std::string& t, F f) {
  if (t == "s32") return f(i32{});
  if (t == "s64") return f(i64{});
  if (t == "s16") return f(std::int16_t{});
  return by_bits(t, f);
}
template <class F>
Handler by_real(const std::string& t, F f) {
  if (t == "f32") return f(float{});
  if (t == "f64") return f(double{});
  return nullptr;
}

// fp16 to fp32: the exponent is moved by a product, which is exact and right for subnormal numbers.
inline float half_value(u16 h) {
  const u32 magnitude = static_cast<u32>(h & 0x7fff) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const u32 bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : std::bit_cast<u32>(scaled);
  return std::bit_cast<float>(bits | static_cast<u32>(h & 0x8000) << 16);
}
// fp32 to fp16, to nearest even: below the smallest normal number a sum with 2^-1 lets the adder round, else an integer sum carries.
inline u16 half_bits(float v) {
  const u32 bits = std::bit_cast<u32>(v), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;
  const u32 small = std::bit_cast<u32>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const u32 normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13;
  const u32 huge = magnitude > 0x7f800000u ? 0x7fffu : 0x7c00u;
  return static_cast<u16>((magnitude > 0x7f800000u ? 0 : sign) | (magnitude >= 0x477ff000u  ? huge
                                                                  : magnitude < 0x38800000u ? small
                                                                                            : normal));
}
inline float brain_value(u16 b) { return std::bit_cast<float>(static_cast<u32>(b) << 16); }
inline u16 brain_bits(float v) {
  const u32 u = std::bit_cast<u32>(v);
  return static_cast<u16>(v != v ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}
inline float flushed(float v) {
  return (std::bit_cast<u32>(v) & 0x7f800000u) ? v : std::bit_cast<float>(std::bit_cast<u32>(v) & 0x80000000u);
}

}  // namespace softgpu::FD_SOFTGPU_SET
