// Arithmetic and conversions with a rounding other than to nearest, and with saturation: rare, so one lane at a time with the processor's
// rounding mode set. Compiled with -frounding-math.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>

#include "machine/warp.hpp"
#include "opcodes/table.hpp"

namespace softgpu {

namespace {

struct Rounding {
  explicit Rounding(u8 mode) : before(std::fegetround()) {
    std::fesetround(mode == 'z' ? FE_TOWARDZERO : mode == 'm' ? FE_DOWNWARD : mode == 'p' ? FE_UPWARD : FE_TONEAREST);
  }
  ~Rounding() { std::fesetround(before); }
  int before;
};

enum Form { Add, Sub, Mul, Fma, Div, Root, Reciprocal };
template <class T, int F>
__attribute__((noinline)) T apply(T a, T b, T c) {
  volatile T x = a, y = b, z = c;  // so that nothing is moved across the change of mode
  volatile T r = F == Add    ? x + y
                 : F == Sub  ? x - y
                 : F == Mul  ? x * y
                 : F == Fma  ? std::fma(x, y, z)
                 : F == Div  ? x / y
                 : F == Root ? std::sqrt(x)
                             : 1 / x;
  return r;
}
float flush(float v) { return (std::bit_cast<u32>(v) & 0x7f800000u) ? v : std::copysign(0.f, v); }

template <class T, int F>
void rounded(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* s[3] = {w.from<T>(i.s[0]), w.from<T>(i.s[i.sources > 1 ? 1 : 0]), w.from<T>(i.s[i.sources > 2 ? 2 : 0])};
  const Rounding mode(i.mode);
  const bool saturate = i.count & 2, ftz = i.count & 4;
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    T x[3] = {s[0][l], s[1][l], s[2][l]};
    if constexpr (sizeof(T) == 4)
      if (ftz) x[0] = flush(x[0]), x[1] = flush(x[1]), x[2] = flush(x[2]);
    T r = apply<T, F>(x[0], x[1], x[2]);
    if constexpr (sizeof(T) == 4)
      if (ftz) r = flush(r);
    if (saturate) r = r > 1 ? T(1) : r > 0 ? r : T(0);
    d[l] = r;
  }
}
template <class D, class S>
__attribute__((noinline)) D cast(S v) {
  volatile S x = v;
  volatile D r = static_cast<D>(x);
  return r;
}
template <class D, class S>
void convert(Warp& w, const Instruction& i, u32 m) {
  D* d = w.to<D>(i.d[0]);
  const u8* s = w.from<u8>(i.s[0]);
  const Rounding mode(i.mode);
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    S v;
    std::memcpy(&v, s + l * i.s[0].width, sizeof v);
    D r = cast<D>(v);
    if (i.count & 2) r = r > 1 ? D(1) : r > 0 ? r : D(0);
    d[l] = r;
  }
}

u8 mode_of(const Opcode& o) { return o.has("rz") ? 'z' : o.has("rm") ? 'm' : o.has("rp") ? 'p' : 'n'; }

template <int F>
Handler choose(Instruction& i, const Opcode& o) {
  i.mode = mode_of(o);
  i.count = static_cast<u8>(1 | (o.has("sat") ? 2 : 0) | (o.has("ftz") ? 4 : 0));
  if (o.type() == "f64") i.pipe = fp64;
  return o.type() == "f64" ? rounded<double, F> : o.type() == "f32" ? rounded<float, F> : nullptr;
}
template <class D>
Handler from(const std::string& t) {
  return t == "s32"   ? convert<D, i32>
         : t == "u32" ? convert<D, u32>
         : t == "s64" ? convert<D, i64>
         : t == "u64" ? convert<D, u64>
         : t == "s16" ? convert<D, std::int16_t>
         : t == "u16" ? convert<D, u16>
         : t == "s8"  ? convert<D, std::int8_t>
         : t == "u8"  ? convert<D, u8>
         : t == "f32" ? convert<D, float>
         : t == "f64" ? convert<D, double>
                      : nullptr;
}

}  // namespace

const std::vector<Row>& rounded_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> r;
    for (const char* needs : {"rz", "rm", "rp", "sat f32"}) {
      r.push_back({"add", needs, "t:tt", fma, choose<Add>});
      r.push_back({"sub", needs, "t:tt", fma, choose<Sub>});
      r.push_back({"mul", needs, "t:tt", fma, choose<Mul>});
      r.push_back({"fma", needs, "t:ttt", fma, choose<Fma>});
      if (needs[0] != 'r') continue;
      r.push_back({"div", needs, "t:tt", fma, choose<Div>});
      r.push_back({"sqrt", needs, "t:t", fma, choose<Root>});
      r.push_back({"rcp", needs, "t:t", fma, choose<Reciprocal>});
      r.push_back({"cvt", needs, "D:t", alu, [](Instruction& i, const Opcode& o) -> Handler {
                     const std::string& to = o.parts[o.parts.size() - 2];
                     i.mode = mode_of(o);
                     i.count = static_cast<u8>(1 | (o.has("sat") ? 2 : 0));
                     if (o.has("ftz")) return nullptr;
                     return to == "f32" ? from<float>(o.type()) : to == "f64" ? from<double>(o.type()) : nullptr;
                   }});
    }
    return r;
  }();
  return rows;
}

}  // namespace softgpu
