// Vectors of this instruction set: register tiles and 2^t. Compiled once for every instruction set (Highway's foreach_target).

#if defined(FD_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FD_VECTORS_INL
#undef FD_VECTORS_INL
#else
#define FD_VECTORS_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "kernel/gaussian.hpp"

// FD_UNROLL: all of a short loop. FD_TWICE: two rounds of a long one, where counters and addresses are a fifth of the instructions: nothing on
// a core of one's own, but a tenth of the loop's time where another thread shares the core and takes its instruction slots.
#undef FD_UNROLL
#undef FD_TWICE
#if defined(__clang__)
#define FD_UNROLL _Pragma("clang loop unroll(full)")
#define FD_TWICE _Pragma("clang loop unroll_count(2)")
#else
#define FD_UNROLL _Pragma("GCC unroll 32")
#define FD_TWICE _Pragma("GCC unroll 2")
#endif

HWY_BEFORE_NAMESPACE();
namespace fd::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Register tiles. Dot products: `rows` vectors × `columns` entries, or `rows_apart` where a product is a register of its own before it is
// added. Products: `wide` vectors × `deep` rows (or 1 × 2 deep), and `sums` accumulators for a few columns. The accumulators, one row of
// vectors and one broadcast fit the registers.
struct Shape {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  static constexpr int rows = 3, rows_apart = 3, columns = 8, wide = 2, deep = 12, sums = 24, registers = 32, narrow_most = 8;
#elif HWY_TARGET == HWY_AVX2 && \
    defined(__clang__)  // clang 14 loads ahead, and then keeps some of 3 × 4 accumulators on the stack
  static constexpr int rows = 2, rows_apart = 2, columns = 4, wide = 2, deep = 6, sums = 12, registers = 16, narrow_most = 4;
#elif HWY_TARGET == HWY_AVX2
  static constexpr int rows = 3, rows_apart = 2, columns = 4, wide = 2, deep = 6, sums = 12, registers = 16, narrow_most = 4;
#elif HWY_TARGET == HWY_SSE4
  static constexpr int rows = 2, rows_apart = 2, columns = 4, wide = 2, deep = 6, sums = 12, registers = 16, narrow_most = 4;
#elif HWY_TARGET == HWY_NEON
  static constexpr int rows = 4, rows_apart = 4, columns = 6, wide = 2, deep = 12, sums = 24, registers = 32, narrow_most = 4;
#else
  static constexpr int rows = 1, rows_apart = 1, columns = 4, wide = 1, deep = 4, sums = 4, registers = 16, narrow_most = 1;
#endif
};

// x86 multiplies pairs of 16-bit numbers and adds the two products, in every instruction set compiled here.
template <class T>
constexpr bool has_fixed_point = HWY_ARCH_X86&& HWY_TARGET != HWY_SCALAR&& HWY_TARGET != HWY_EMU128 && sizeof(T) == sizeof(float);

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
constexpr std::size_t lanes_of() {
  return hn::MaxLanes(Tag<T>());
}

// e = 2^(multiple t) of `count` values, whole groups of three vectors, for exponents that a power of two in T can have; kClamp: however far
// below. A loop of its own, so that the constants stay in registers; stage by stage over a group, so that the latency of Horner's rule is hidden and not left to a
// scheduler that cannot look that far ahead.
constexpr int exp2_group = 3;
template <bool kClamp, class T>
HWY_INLINE void exp2_vectors(const T* t, T multiple, T* e, std::size_t count) {
  using E = Exp2<T>;
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> integers;
  constexpr std::size_t lanes = lanes_of<T>();
  constexpr int group = exp2_group;
  const volatile T opaque = E::magic;  // of a known constant compilers make a second one, -magic, and then lack a register
  const V magic = hn::Set(d, opaque), times = hn::Set(d, multiple), lowest = hn::Set(d, E::lowest / multiple);
  V x[group], power[group], p[group];
  for (std::size_t at = 0; at < count; at += group * lanes) {
    FD_UNROLL for (int g = 0; g < group; ++g) x[g] = hn::LoadU(d, t + at + g * lanes);
    if constexpr (kClamp) {
      FD_UNROLL for (int g = 0; g < group; ++g) x[g] = hn::Max(x[g], lowest);
    }
    FD_UNROLL for (int g = 0; g < group; ++g) power[g] = hn::MulAdd(x[g], times, magic);
    FD_UNROLL for (int g = 0; g < group; ++g) p[g] = hn::Sub(power[g], magic);
    FD_UNROLL for (int g = 0; g < group; ++g) x[g] = hn::MulSub(x[g], times, p[g]);
    FD_UNROLL for (int g = 0; g < group; ++g) power[g] =
        hn::BitCast(d, hn::ShiftLeft<E::mantissa_bits>(hn::BitCast(integers, power[g])));
    FD_UNROLL for (int g = 0; g < group; ++g) p[g] =
        hn::MulAdd(hn::Set(d, E::coefficient[E::degree]), x[g], hn::Set(d, E::coefficient[E::degree - 1]));
    FD_UNROLL for (int k = E::degree - 2; k >= 0; --k) FD_UNROLL for (int g = 0; g < group; ++g) p[g] =
        hn::MulAdd(p[g], x[g], hn::Set(d, E::coefficient[k]));
    FD_UNROLL for (int g = 0; g < group; ++g)
        hn::StoreU(hn::BitCast(d, hn::Add(hn::BitCast(integers, p[g]), hn::BitCast(integers, power[g]))), d, e + at + g * lanes);
  }
}

// 2^t of `count` fixed-point numbers, whole groups of two vectors (for three there is a register too few), in the bits of `t`, with
// 23 + `shift` bits behind the point and none below -126. The integer part is where a float has its exponent, once the bits are shifted; the
// fraction, under the exponent of 1, is m - 1.
static HWY_INLINE void exp2_fixed(float* t, std::size_t count, int shift) {
  using E = FixedExp2;
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> integers;
  using V = hn::Vec<Tag<float>>;
  using I = hn::Vec<decltype(integers)>;
  constexpr std::size_t lanes = lanes_of<float>();
  constexpr int group = 2;
  const I fraction = hn::Set(integers, (1 << 23) - 1), one = hn::BitCast(integers, hn::Set(d, 1.0f));
  I x[group];
  V m[group], p[group];
  for (std::size_t at = 0; at < count; at += group * lanes) {
    FD_UNROLL for (int g = 0; g < group; ++g) x[g] =
        hn::ShiftRightSame(hn::BitCast(integers, hn::Load(d, t + at + g * lanes)), shift);
    FD_UNROLL for (int g = 0; g < group; ++g) m[g] = hn::BitCast(d, hn::Or(hn::And(x[g], fraction), one));
    FD_UNROLL for (int g = 0; g < group; ++g) x[g] = hn::AndNot(fraction, x[g]);
    FD_UNROLL for (int g = 0; g < group; ++g) p[g] =
        hn::MulAdd(hn::Set(d, E::coefficient[E::degree]), m[g], hn::Set(d, E::coefficient[E::degree - 1]));
    FD_UNROLL for (int k = E::degree - 2; k >= 0; --k) FD_UNROLL for (int g = 0; g < group; ++g) p[g] =
        hn::MulAdd(p[g], m[g], hn::Set(d, E::coefficient[k]));
    FD_UNROLL for (int g = 0; g < group; ++g)
        hn::Store(hn::BitCast(d, hn::Add(hn::BitCast(integers, p[g]), x[g])), d, t + at + g * lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fd::cpu
HWY_AFTER_NAMESPACE();

#endif
