// cvt, rounded to nearest or to whole numbers. Other roundings: rounded.cpp.
#include <algorithm>
#include <limits>

#include "opcodes/lanes.hpp"

namespace softgpu::FD_SOFTGPU_SET {

namespace {

struct Half {
  u16 bits;
};
struct Brain {
  u16 bits;
};
inline float value(Half h) { return half_value(h.bits); }
inline float value(Brain b) { return brain_value(b.bits); }
template <class T>
inline T value(T v) {
  return v;
}

template <class R>
inline R whole(R v, u8 mode) {
  return mode == 'z'   ? std::trunc(v)
         : mode == 'm' ? std::floor(v)
         : mode == 'p' ? std::ceil(v)
         : mode == 'n' ? std::nearbyint(v)
                       : v;
}
template <class D, class S>
inline D converted(S s, u8 mode, bool saturate) {
  auto v = value(s);
  using V = decltype(v);
  if constexpr (std::is_floating_point_v<V>)
    if (saturate && !std::is_integral_v<D>) v = v > 1 ? V(1) : v > 0 ? v : V(0);
  if constexpr (std::is_same_v<D, Half>) {
    if constexpr (std::is_same_v<V, double>) {  // to odd in fp32 first: one rounding
      float f = static_cast<float>(v);
      const u32 u = std::bit_cast<u32>(f);
      if (static_cast<double>(f) != v && v == v && !(u & 1))
        f = std::bit_cast<float>(std::fabs(static_cast<double>(f)) < std::fabs(v) ? u + 1 : u - 1);
      return {half_bits(f)};
    } else return {half_bits(static_cast<float>(v))};
  } else if constexpr (std::is_same_v<D, Brain>) {
    return {brain_bits(static_cast<float>(v))};
  } else if constexpr (std::is_integral_v<D> && std::is_floating_point_v<V>) {
    const double r = whole(static_cast<double>(v), mode);
    if (r != r) return 0;
    if (r <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
    if (r >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
    return static_cast<D>(r);
  } else if constexpr (std::is_integral_v<D>) {
    if (!saturate) return static_cast<D>(v);
    if constexpr (std::is_signed_v<V>) {
      if (v < 0 && !std::is_signed_v<D>) return 0;
      if (static_cast<i64>(v) < static_cast<i64>(std::numeric_limits<D>::min()) && std::is_signed_v<D>)
        return std::numeric_limits<D>::min();
    }
    return static_cast<u64>(v) > static_cast<u64>(std::numeric_limits<D>::max()) &&
                   !(std::is_signed_v<V> && static_cast<i64>(v) < 0)
               ? std::numeric_limits<D>::max()
               : static_cast<D>(v);
  } else if constexpr (std::is_floating_point_v<V>) {
    return static_cast<D>(whole(v, mode));
  } else return static_cast<D>(v);
}
template <class D, class S>
void convert(Warp& w, const Instruction& i, u32 m) {  // registers may be wider than the types
  const int ws = i.s[0].width, wd = i.d[0].width;
  const u8* s = w.from<u8>(i.s[0]);
  u8* d = w.to<u8>(i.d[0]);
  const u8 mode = i.mode;
  const bool saturate = i.count & 2, flush = i.count & 4;
  if (ws == sizeof(S) && wd == sizeof(D) && !saturate && !flush) {
    const S* a = reinterpret_cast<const S*>(s);
    D* b = reinterpret_cast<D*>(d);
    each(m, [=](int l) { b[l] = converted<D>(a[l], mode, false); });
    return;
  }
  each(m, [=](int l) {
    S a;
    std::memcpy(&a, s + l * ws, sizeof a);
    if constexpr (std::is_same_v<S, float>)
      if (flush) a = flushed(a);
    D r = converted<D>(a, mode, saturate);
    if constexpr (std::is_same_v<D, float>)
      if (flush) r = flushed(r);
    u64 wide = 0;
    if constexpr (std::is_integral_v<D>) wide = static_cast<u64>(static_cast<i64>(r));
    else std::memcpy(&wide, &r, sizeof r);
    std::memcpy(d + l * wd, &wide, static_cast<std::size_t>(wd));
  });
}
template <bool Brain16>
void pair(Warp& w, const Instruction& i, u32 m) {
  u32* d = w.to<u32>(i.d[0]);
  const float *a = w.from<float>(i.s[0]), *b = w.from<float>(i.s[1]);
  if constexpr (Brain16) each(m, [=](int l) { d[l] = static_cast<u32>(brain_bits(a[l])) << 16 | brain_bits(b[l]); });
  else each(m, [=](int l) { d[l] = static_cast<u32>(half_bits(a[l])) << 16 | half_bits(b[l]); });
}
// tf32 has 10 bits of fraction. rna: ties go away from zero.
template <bool ToEven>
void to_tf32(Warp& w, const Instruction& i, u32 m) {
  u32* d = w.to<u32>(i.d[0]);
  const u32* a = w.from<u32>(i.s[0]);
  each(m, [=](int l) {
    d[l] = (a[l] & 0x7fffffff) >= 0x7f800000 ? a[l] : (a[l] + (ToEven ? 0xfffu + (a[l] >> 13 & 1) : 0x1000u)) & 0xffffe000;
  });
}

template <class F>
Handler by_any(const std::string& t, F f) {
  if (t == "f16") return f(Half{});
  if (t == "bf16") return f(Brain{});
  if (t == "u8" || t == "b8") return f(u8{});
  if (t == "s8") return f(std::int8_t{});
  if (const Handler h = by_real(t, f)) return h;
  return by_integer(t, f);
}
bool real(const std::string& t) { return t == "f16" || t == "bf16" || t == "f32" || t == "f64"; }
Handler choose(Instruction& i, const Opcode& o) {
  const std::string& to = o.parts[o.parts.size() - 2];
  if (o.has("relu") || o.has("rs")) return nullptr;
  i.mode = o.has("rzi") ? 'z' : o.has("rmi") ? 'm' : o.has("rpi") ? 'p' : o.has("rni") ? 'n' : 0;
  if (i.mode == 0 && real(o.type()) && !real(to)) return nullptr;  // a rounding to whole numbers must be named
  i.count = static_cast<u8>(1 | (o.has("sat") ? 2 : 0) | (o.has("ftz") ? 4 : 0));
  return by_any(to, [&](auto d) -> Handler {
    using D = decltype(d);
    return by_any(o.type(), [](auto s) -> Handler { return convert<D, decltype(s)>; });
  });
}

}  // namespace

const std::vector<Row>& conversion_rows() {
  static const std::vector<Row> rows = {
      {"cvt", "f16x2", "4:44", alu,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.type() == "f32" && o.has("rn") && o.parts.size() == 4 ? pair<false> : nullptr;
       }},
      {"cvt", "bf16x2", "4:44", alu,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.type() == "f32" && o.has("rn") && o.parts.size() == 4 ? pair<true> : nullptr;
       }},
      {"cvt", "tf32 rna", "4:4", alu, [](Instruction&, const Opcode&) -> Handler { return to_tf32<false>; }},
      {"cvt", "tf32 rn", "4:4", alu, [](Instruction&, const Opcode&) -> Handler { return to_tf32<true>; }},
      {"cvt", "", "D:t", alu, choose},
  };
  return rows;
}

}  // namespace softgpu::FD_SOFTGPU_SET
