// fp32 and fp64, rounded to nearest; functions of the special unit; 16-bit floats through fp32.
#include <algorithm>
#include <limits>

#include "opcodes/lanes.hpp"

namespace softgpu::FD_SOFTGPU_SET {

namespace {

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
// Of a number and a NaN, the number.
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a != a ? b : b != b ? a : (b < a || (a == b && std::signbit(b))) ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a != a ? b : b != b ? a : (a < b || (a == b && std::signbit(a))) ? b : a;
  }
};

template <class T, class F, bool Flush>
void binary(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  if constexpr (Flush) each(m, [=](int l) { d[l] = flushed(F::of(flushed(a[l]), flushed(b[l]))); });
  else each(m, [=](int l) { d[l] = F::of(a[l], b[l]); });
}
template <class T, bool Flush>
void multiply_add(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]), *c = w.from<T>(i.s[2]);
  if constexpr (Flush) each(m, [=](int l) { d[l] = flushed(std::fma(flushed(a[l]), flushed(b[l]), flushed(c[l]))); });
  else each(m, [=](int l) { d[l] = std::fma(a[l], b[l], c[l]); });
}
template <class T>
void negate(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  each(m, [=](int l) { d[l] = -a[l]; });
}
template <class T>
void absolute(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  each(m, [=](int l) { d[l] = std::fabs(a[l]); });
}
template <class T>
void copy_sign(Warp& w, const Instruction& i, u32 m) {  // PTX: of the first, onto the second
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  each(m, [=](int l) { d[l] = std::copysign(b[l], a[l]); });
}

// 2^x to about one unit in the last place, as the hardware's (which is good to 2^-22); results below 2^-126 are zero.
void exponential(Warp& w, const Instruction& i, u32 m) {
  float* d = w.to<float>(i.d[0]);
  const float* a = w.from<float>(i.s[0]);
  each(m, [=](int l) {
    const float v = a[l];
    const float x = v < -200.f ? -200.f : v > 200.f ? 200.f : v == v ? v : 0.f;
    const float r = (x + 12582912.f) - 12582912.f, f = x - r;  // nearest whole number
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f, p = p * f + 9.6181291e-3f, p = p * f + 5.5504109e-2f, p = p * f + 2.4022651e-1f,
    p = p * f + 6.9314718e-1f, p = p * f + 1.f;
    const i32 e = static_cast<i32>(r);
    const i32 kept = e < -126 ? -126 : e > 127 ? 127 : e;
    const float y = p * std::bit_cast<float>(static_cast<u32>(kept + 127) << 23);
    d[l] = v != v ? v : x < -126.f ? 0.f : e > 127 ? std::numeric_limits<float>::infinity() : y;
  });
}

struct Reciprocal {
  template <class T>
  static T of(T v) {
    return 1 / v;
  }
};
struct Root {
  template <class T>
  static T of(T v) {
    return std::sqrt(v);
  }
};
struct ReciprocalRoot {
  template <class T>
  static T of(T v) {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(v)));
  }
};
struct Logarithm {
  static float of(float v) { return static_cast<float>(std::log2(static_cast<double>(v))); }
};
struct Sine {
  static float of(float v) { return static_cast<float>(std::sin(static_cast<double>(v))); }
};
struct Cosine {
  static float of(float v) { return static_cast<float>(std::cos(static_cast<double>(v))); }
};
struct Tangent {
  static float of(float v) { return static_cast<float>(std::tanh(static_cast<double>(v))); }
};

template <class T, class F, bool Flush>
void function(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  if constexpr (Flush) each(m, [=](int l) { d[l] = flushed(F::of(flushed(a[l]))); });
  else each(m, [=](int l) { d[l] = F::of(a[l]); });
}
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper word alone and are good to 2^-20: the code around them refines.
template <class F>
void rough(Warp& w, const Instruction& i, u32 m) {
  double* d = w.to<double>(i.d[0]);
  const double* a = w.from<double>(i.s[0]);
  each(m, [=](int l) {
    const double v = std::bit_cast<double>(std::bit_cast<u64>(a[l]) & ~u64(0xffffffff));
    const u64 exponent = std::bit_cast<u64>(v) >> 52 & 2047;
    double r = F::of(exponent ? v : std::copysign(0.0, v));
    if ((std::bit_cast<u64>(r) >> 52 & 2047) == 0) r = std::copysign(0.0, r);
    d[l] = r != r ? r : std::bit_cast<double>(std::bit_cast<u64>(r) & ~u64(0xffffffff));
  });
}

// Two 16-bit floats a register (or one), each operation in fp32, fma in fp64: one rounding to 16 bits.
template <bool Brain, int Parts, int Form>  // Form: 0 add 1 sub 2 mul 3 fma 4 min 5 max 6 neg 7 abs
void halves(Warp& w, const Instruction& i, u32 m) {
  const auto value = [](u16 v) { return Brain ? brain_value(v) : half_value(v); };
  const auto bits = [](float v) { return Brain ? brain_bits(v) : half_bits(v); };
  const u16 *a = w.from<u16>(i.s[0]), *b = Form < 6 ? w.from<u16>(i.s[1]) : a, *c = Form == 3 ? w.from<u16>(i.s[2]) : a;
  u16* d = w.to<u16>(i.d[0]);
  each(m, [=](int lane) {
    for (int l = lane * Parts; l < lane * Parts + Parts; ++l) {
      const float x = value(a[l]), y = value(b[l]);
      if constexpr (Form == 6) d[l] = a[l] ^ 0x8000;
      else if constexpr (Form == 7) d[l] = a[l] & 0x7fff;
      else if constexpr (Form == 3) {
        const double sum =
            static_cast<double>(x) * y + value(c[l]);  // the product is exact; to odd in fp32, then to nearest: one rounding
        float f = static_cast<float>(sum);
        const u32 u = std::bit_cast<u32>(f);
        if (static_cast<double>(f) != sum && f == f && !(u & 1))
          f = std::bit_cast<float>((std::fabs(static_cast<double>(f)) < std::fabs(sum)) ? u + 1 : u - 1);
        d[l] = bits(f);
      } else d[l] = bits(Form == 0 ? x + y : Form == 1 ? x - y : Form == 2 ? x * y : Form == 4 ? Min::of(x, y) : Max::of(x, y));
    }
  });
}
template <int Form>
Handler half_form(Instruction&, const Opcode& o) {
  if (o.has("sat") || o.has("ftz") || o.has("relu") || o.has("NaN")) return nullptr;
  const std::string& t = o.type();
  return t == "f16"      ? halves<false, 1, Form>
         : t == "f16x2"  ? halves<false, 2, Form>
         : t == "bf16"   ? halves<true, 1, Form>
         : t == "bf16x2" ? halves<true, 2, Form>
                         : nullptr;
}

template <class F>
Handler two(Instruction& i, const Opcode& o) {
  if (o.type() == "f64") i.pipe = fp64;
  if (o.has("NaN") || o.has("xorsign")) return nullptr;
  const bool flush = o.has("ftz");
  return by_real(o.type(), [=](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, float>)
      if (flush) return binary<T, F, true>;
    return binary<T, F, false>;
  });
}
template <class F>
Handler special(Instruction&, const Opcode& o) {
  if (o.type() != "f32") return nullptr;
  return o.has("ftz") ? function<float, F, true> : function<float, F, false>;
}
template <class F>
Handler root(Instruction& i, const Opcode& o) {
  if (o.type() == "f64") {
    i.pipe = fp64;
    return o.has("approx") ? rough<F> : function<double, F, false>;
  }
  return special<F>(i, o);
}

}  // namespace

const std::vector<Row>& real_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> r;
    for (const char* t : {"f32", "f64"}) {
      r.push_back({"add", t, "t:tt", fma, two<Add>});
      r.push_back({"sub", t, "t:tt", fma, two<Sub>});
      r.push_back({"mul", t, "t:tt", fma, two<Mul>});
      r.push_back({"div", t, "t:tt", mufu, two<Div>});
      r.push_back({"min", t, "t:tt", alu, two<Min>});
      r.push_back({"max", t, "t:tt", alu, two<Max>});
      for (const char* name : {"fma", "mad"})
        r.push_back({name, t, "t:ttt", fma, [](Instruction& i, const Opcode& o) -> Handler {
                       if (o.type() == "f64") i.pipe = fp64;
                       return o.type() == "f64" ? multiply_add<double, false>
                              : o.has("ftz")    ? multiply_add<float, true>
                                                : multiply_add<float, false>;
                     }});
      r.push_back({"neg", t, "t:t", fma, [](Instruction&, const Opcode& o) {
                     return by_real(o.type(), [](auto x) -> Handler { return negate<decltype(x)>; });
                   }});
      r.push_back({"abs", t, "t:t", fma, [](Instruction&, const Opcode& o) {
                     return by_real(o.type(), [](auto x) -> Handler { return absolute<decltype(x)>; });
                   }});
      r.push_back({"copysign", t, "t:tt", alu, [](Instruction&, const Opcode& o) {
                     return by_real(o.type(), [](auto x) -> Handler { return copy_sign<decltype(x)>; });
                   }});
    }
    r.push_back({"ex2", "f32", "t:t", mufu, [](Instruction&, const Opcode&) -> Handler { return exponential; }});
    r.push_back({"rcp", "", "t:t", mufu, root<Reciprocal>});
    r.push_back({"sqrt", "", "t:t", mufu, root<Root>});
    r.push_back({"rsqrt", "", "t:t", mufu, root<ReciprocalRoot>});
    r.push_back({"lg2", "", "t:t", mufu, special<Logarithm>});
    r.push_back({"sin", "", "t:t", mufu, special<Sine>});
    r.push_back({"cos", "", "t:t", mufu, special<Cosine>});
    r.push_back({"tanh", "", "t:t", mufu, special<Tangent>});
    for (const char* t : {"f16", "f16x2", "bf16", "bf16x2"}) {
      r.push_back({"add", t, "t:tt", fma, half_form<0>});
      r.push_back({"sub", t, "t:tt", fma, half_form<1>});
      r.push_back({"mul", t, "t:tt", fma, half_form<2>});
      r.push_back({"fma", t, "t:ttt", fma, half_form<3>});
      r.push_back({"min", t, "t:tt", fma, half_form<4>});
      r.push_back({"max", t, "t:tt", fma, half_form<5>});
      r.push_back({"neg", t, "t:t", fma, half_form<6>});
      r.push_back({"abs", t, "t:t", fma, half_form<7>});
    }
    return r;
  }();
  return rows;
}

}  // namespace softgpu::FD_SOFTGPU_SET
