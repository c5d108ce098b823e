// Integers: sums, products, carries, shifts, bits.
#include <limits>

#include "opcodes/lanes.hpp"

namespace softgpu::FD_SOFTGPU_SET {

namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Work = std::conditional_t<(sizeof(T) < 4), u32, T>;  // u16 * u16 would be a signed product
template <class T>
struct WiderOf;
template <>
struct WiderOf<u16> {
  using type = u32;
};
template <>
struct WiderOf<std::int16_t> {
  using type = i32;
};
template <>
struct WiderOf<u32> {
  using type = u64;
};
template <>
struct WiderOf<i32> {
  using type = i64;
};
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;
template <>
struct WiderOf<u64> {
  using type = u128;
};
template <>
struct WiderOf<i64> {
  using type = i128;
};
template <class T>
using Wider = typename WiderOf<T>::type;

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a - b);
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(Work<T>(a) * b);
  }
};
struct High {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((Wider<T>(a) * Wider<T>(b)) >> sizeof(T) * 8);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  static T of(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return a ^ b;
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(~u64(0));
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return static_cast<T>(0 - static_cast<u64>(a));
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

template <class T, class F>
void binary(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  each(m, [=](int l) { d[l] = F::of(a[l], b[l]); });
}
template <class T, class F>
void unary(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  each(m, [=](int l) { d[l] = F::of(a[l]); });
}
struct Neg {
  template <class T>
  static T of(T a) {
    return static_cast<T>(0 - u64(a));
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    return a < 0 ? static_cast<T>(0 - u64(a)) : a;
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct Reverse {
  template <class T>
  static T of(T a) {
    T r = 0;
    for (unsigned k = 0; k < sizeof(T) * 8; ++k) r |= (a >> k & 1) << (sizeof(T) * 8 - 1 - k);
    return r;
  }
};

template <class F>
void predicates(Warp& w, const Instruction& i, u32 m) {
  w.set_predicate(i.d[0], F::of(w.predicate(i.s[0]), w.predicate(i.s[1])), m);
}
void not_predicate(Warp& w, const Instruction& i, u32 m) { w.set_predicate(i.d[0], ~w.predicate(i.s[0]), m); }

template <class T>
void shift_left(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  const u32* b = w.from<u32>(i.s[1]);
  each(m, [=](int l) { d[l] = b[l] >= sizeof(T) * 8 ? T(0) : static_cast<T>(u64(a[l]) << (b[l] & 63)); });
}
template <class T>
void shift_right(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  const u32* b = w.from<u32>(i.s[1]);
  constexpr u32 top = sizeof(T) * 8 - 1;
  each(m, [=](int l) {
    d[l] = b[l] > top ? static_cast<T>(std::is_signed_v<T> ? a[l] >> top : 0) : static_cast<T>(a[l] >> (b[l] & top));
  });
}
template <class T>
void multiply_wide(Warp& w, const Instruction& i, u32 m) {
  Wider<T>* d = w.to<Wider<T>>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  each(m, [=](int l) { d[l] = static_cast<Wider<T>>(a[l]) * static_cast<Wider<T>>(b[l]); });
}
template <class T>
void multiply_add_wide(Warp& w, const Instruction& i, u32 m) {
  using W = Unsigned<Wider<T>>;
  W* d = w.to<W>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  const W* c = w.from<W>(i.s[2]);
  each(m, [=](int l) { d[l] = static_cast<W>(static_cast<Wider<T>>(a[l]) * static_cast<Wider<T>>(b[l])) + c[l]; });
}

// Sums with carry. CC.CF is one bit a lane; a difference leaves the borrow in it.
template <class T, int Form>  // 0 add, 1 sub, 2 mad.lo, 3 mad.hi
void carried(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const bool in = i.mode & 1, out = i.mode & 2;
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]), *c = Form >= 2 ? w.from<T>(i.s[2]) : nullptr;
  u32 carry = w.carry;
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    const T more = in ? static_cast<T>(carry >> l & 1) : T(0);
    T x = a[l], y = b[l], r = 0;
    bool flag = false;
    if constexpr (Form == 1) {
      const T first = static_cast<T>(x - y);
      r = static_cast<T>(first - more);
      flag = x < y || first < more;
    } else {
      if constexpr (Form == 2) x = static_cast<T>(Mul::of(x, y)), y = c[l];
      if constexpr (Form == 3) x = High::of(x, y), y = c[l];
      const T first = static_cast<T>(x + y);
      r = static_cast<T>(first + more);
      flag = first < x || r < first;
    }
    d[l] = r;
    if (out) carry = (carry & ~(1u << l)) | static_cast<u32>(flag) << l;
  }
  w.carry = carry;
}

template <class T>
void multiply_add(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]), *c = w.from<T>(i.s[2]);
  each(m, [=](int l) { d[l] = static_cast<T>(Work<T>(a[l]) * b[l] + c[l]); });
}
template <class T>
void multiply_high_add(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]), *c = w.from<T>(i.s[2]);
  each(m, [=](int l) { d[l] = static_cast<T>(static_cast<Unsigned<T>>(High::of(a[l], b[l])) + static_cast<Unsigned<T>>(c[l])); });
}
template <class T>
void count_ones(Warp& w, const Instruction& i, u32 m) {
  const T* a = w.from<T>(i.s[0]);
  u32* d = w.to<u32>(i.d[0]);
  each(m, [=](int l) { d[l] = static_cast<u32>(std::popcount(a[l])); });
}
template <class T>
void count_zeros(Warp& w, const Instruction& i, u32 m) {
  const T* a = w.from<T>(i.s[0]);
  u32* d = w.to<u32>(i.d[0]);
  each(m, [=](int l) { d[l] = static_cast<u32>(std::countl_zero(a[l])); });
}
template <class T>
void find_first(Warp& w, const Instruction& i, u32 m) {  // bfind: position of the highest one (that differs from the sign)
  const T* a = w.from<T>(i.s[0]);
  u32* d = w.to<u32>(i.d[0]);
  const bool shift = i.mode;
  each(m, [=](int l) {
    const auto v = static_cast<Unsigned<T>>(a[l] < 0 ? static_cast<T>(~a[l]) : a[l]);
    const u32 at = v ? static_cast<u32>(sizeof(T) * 8 - 1 - static_cast<unsigned>(std::countl_zero(v))) : ~0u;
    d[l] = shift && at != ~0u ? static_cast<u32>(sizeof(T) * 8 - 1) - at : at;
  });
}
template <class T>
void extract(Warp& w, const Instruction& i, u32 m) {  // bfe
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  const u32 *p = w.from<u32>(i.s[1]), *n = w.from<u32>(i.s[2]);
  each(m, [=](int l) {
    constexpr u32 bits = sizeof(T) * 8;
    const u32 pos = p[l] & 255, len = n[l] & 255;
    using U = Unsigned<T>;
    if (len == 0) {
      d[l] = 0;
      return;
    }
    const U sign = std::is_signed_v<T> ? static_cast<U>(a[l]) >> std::min(pos + len - 1, bits - 1) & 1 : 0;
    U v = pos >= bits ? U(0) : static_cast<U>(static_cast<U>(a[l]) >> pos);
    const u32 kept = pos >= bits ? 0 : std::min(len, bits - pos);  // beyond them: the sign
    const U mask = kept >= bits ? ~U(0) : static_cast<U>((U(1) << kept) - 1);
    v = static_cast<U>((v & mask) | (sign ? static_cast<U>(~mask) : U(0)));
    d[l] = static_cast<T>(v);
  });
}
template <class T>
void insert(Warp& w, const Instruction& i, u32 m) {  // bfi: a into b
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  const u32 *p = w.from<u32>(i.s[2]), *n = w.from<u32>(i.s[3]);
  each(m, [=](int l) {
    constexpr u32 bits = sizeof(T) * 8;
    const u32 pos = p[l] & 255, len = n[l] & 255;
    const T ones = len >= bits ? ~T(0) : static_cast<T>((T(1) << len) - 1);
    const T mask = pos >= bits ? T(0) : static_cast<T>(ones << pos);
    d[l] = static_cast<T>((b[l] & ~mask) | (pos >= bits ? T(0) : (a[l] << pos) & mask));
  });
}
void logic3(Warp& w, const Instruction& i, u32 m) {  // lop3: the table's bit at 4a + 2b + c
  u32* d = w.to<u32>(i.d[0]);
  const u32 *a = w.from<u32>(i.s[0]), *b = w.from<u32>(i.s[1]), *c = w.from<u32>(i.s[2]), table = *w.from<u32>(i.s[3]);
  each(m, [=](int l) {
    u32 r = 0;
    for (u32 k = 0; k < 8; ++k)
      r |= (table >> k & 1 ? ~0u : 0u) & (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    d[l] = r;
  });
}
void permute(Warp& w, const Instruction& i, u32 m) {  // prmt, the plain mode
  u32* d = w.to<u32>(i.d[0]);
  const u32 *a = w.from<u32>(i.s[0]), *b = w.from<u32>(i.s[1]), *c = w.from<u32>(i.s[2]);
  each(m, [=](int l) {
    const u64 both = u64(b[l]) << 32 | a[l];
    u32 r = 0;
    for (u32 k = 0; k < 4; ++k) {
      const u32 pick = c[l] >> 4 * k & 15;
      u32 byte = static_cast<u32>(both >> 8 * (pick & 7)) & 255;
      if (pick & 8) byte = byte & 128 ? 255 : 0;
      r |= byte << 8 * k;
    }
    d[l] = r;
  });
}
template <bool Left, bool Clamp>
void funnel(Warp& w, const Instruction& i, u32 m) {  // shf: of {b, a}, b above
  u32* d = w.to<u32>(i.d[0]);
  const u32 *a = w.from<u32>(i.s[0]), *b = w.from<u32>(i.s[1]), *c = w.from<u32>(i.s[2]);
  each(m, [=](int l) {
    const u32 n = Clamp ? std::min(c[l], 32u) : c[l] & 31;
    const u64 both = u64(b[l]) << 32 | a[l];
    d[l] = static_cast<u32>(Left ? both << n >> 32 : both >> n);
  });
}

Handler carry_form(Instruction& i, const Opcode& o, int form) {
  i.mode = static_cast<u8>((o.name().back() == 'c' ? 1 : 0) | (o.has("cc") ? 2 : 0));
  return by_bits(o.type(), [form](auto t) -> Handler {
    using T = decltype(t);
    return form == 0 ? carried<T, 0> : form == 1 ? carried<T, 1> : form == 2 ? carried<T, 2> : carried<T, 3>;
  });
}

template <class F>
Handler bits(Instruction&, const Opcode& o) {
  return by_bits(o.type(), [](auto t) -> Handler { return binary<decltype(t), F>; });
}
template <class F>
Handler integers(Instruction&, const Opcode& o) {
  return by_integer(o.type(), [](auto t) -> Handler { return binary<decltype(t), F>; });
}
template <class F>
Handler logic(Instruction&, const Opcode& o) {
  if (o.type() == "pred") return predicates<F>;
  return by_bits(o.type(), [](auto t) -> Handler { return binary<decltype(t), F>; });
}
template <class F>
Handler one(Instruction&, const Opcode& o) {
  return by_integer(o.type(), [](auto t) -> Handler { return unary<decltype(t), F>; });
}

}  // namespace

const std::vector<Row>& integer_rows() {
  static const std::vector<Row> rows = {
      {"add", "cc", "t:tt", alu, [](Instruction& i, const Opcode& o) { return carry_form(i, o, 0); }},
      {"addc", "", "t:tt", alu, [](Instruction& i, const Opcode& o) { return carry_form(i, o, 0); }},
      {"sub", "cc", "t:tt", alu, [](Instruction& i, const Opcode& o) { return carry_form(i, o, 1); }},
      {"subc", "", "t:tt", alu, [](Instruction& i, const Opcode& o) { return carry_form(i, o, 1); }},
      {"mad", "cc lo", "t:ttt", fma, [](Instruction& i, const Opcode& o) { return carry_form(i, o, 2); }},
      {"mad", "cc hi", "t:ttt", fma,
       [](Instruction& i, const Opcode& o) { return o.type()[0] == 's' ? nullptr : carry_form(i, o, 3); }},
      {"madc", "lo", "t:ttt", fma, [](Instruction& i, const Opcode& o) { return carry_form(i, o, 2); }},
      {"madc", "hi", "t:ttt", fma,
       [](Instruction& i, const Opcode& o) { return o.type()[0] == 's' ? nullptr : carry_form(i, o, 3); }},
      {"mul", "wide", "w:tt", fma,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.type() == "s32"   ? multiply_wide<i32>
                : o.type() == "u32" ? multiply_wide<u32>
                : o.type() == "u16" ? multiply_wide<u16>
                : o.type() == "s16" ? multiply_wide<std::int16_t>
                                    : nullptr;
       }},
      {"mad", "wide", "w:ttw", fma,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.type() == "s32"   ? multiply_add_wide<i32>
                : o.type() == "u32" ? multiply_add_wide<u32>
                : o.type() == "u16" ? multiply_add_wide<u16>
                : o.type() == "s16" ? multiply_add_wide<std::int16_t>
                                    : nullptr;
       }},
      {"mul", "lo", "t:tt", fma, bits<Mul>},
      {"mul", "hi", "t:tt", fma, integers<High>},
      {"mad", "lo", "t:ttt", fma,
       [](Instruction&, const Opcode& o) {
         return by_bits(o.type(), [](auto t) -> Handler { return multiply_add<decltype(t)>; });
       }},
      {"mad", "hi", "t:ttt", fma,
       [](Instruction&, const Opcode& o) {
         return by_integer(o.type(), [](auto t) -> Handler { return multiply_high_add<decltype(t)>; });
       }},
      {"and", "", "t:tt", alu, logic<And>},
      {"or", "", "t:tt", alu, logic<Or>},
      {"xor", "", "t:tt", alu, logic<Xor>},
      {"not", "", "t:t", alu,
       [](Instruction& i, const Opcode& o) -> Handler { return o.type() == "pred" ? not_predicate : one<Not>(i, o); }},
      {"shl", "", "t:t4", alu,
       [](Instruction&, const Opcode& o) {
         return by_bits(o.type(), [](auto t) -> Handler { return shift_left<decltype(t)>; });
       }},
      {"shr", "", "t:t4", alu,
       [](Instruction&, const Opcode& o) {
         return by_integer(o.type(), [](auto t) -> Handler { return shift_right<decltype(t)>; });
       }},
      {"shf", "", "4:444", alu,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.has("l")       ? (o.has("clamp") ? funnel<true, true> : funnel<true, false>)
                : o.has("clamp") ? funnel<false, true>
                                 : funnel<false, false>;
       }},
      {"popc", "", "4:t", alu,
       [](Instruction&, const Opcode& o) -> Handler { return o.type() == "b64" ? count_ones<u64> : count_ones<u32>; }},
      {"clz", "", "4:t", alu,
       [](Instruction&, const Opcode& o) -> Handler { return o.type() == "b64" ? count_zeros<u64> : count_zeros<u32>; }},
      {"bfind", "", "4:t", alu,
       [](Instruction& i, const Opcode& o) {
         i.mode = o.has("shiftamt");
         return by_integer(o.type(), [](auto t) -> Handler { return find_first<decltype(t)>; });
       }},
      {"brev", "", "t:t", alu,
       [](Instruction&, const Opcode& o) -> Handler { return o.type() == "b64" ? unary<u64, Reverse> : unary<u32, Reverse>; }},
      {"bfe", "", "t:t44", alu,
       [](Instruction&, const Opcode& o) {
         return by_integer(o.type(), [](auto t) -> Handler { return extract<decltype(t)>; });
       }},
      {"bfi", "", "t:tt44", alu,
       [](Instruction&, const Opcode& o) { return by_bits(o.type(), [](auto t) -> Handler { return insert<decltype(t)>; }); }},
      {"lop3", "", "4:4444", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         return o.has("and") || o.has("or") || !i.s[3].constant ? nullptr : logic3;
       }},
      {"prmt", "", "4:444", alu,
       [](Instruction&, const Opcode& o) -> Handler { return o.parts.size() == 2 ? permute : nullptr; }},
      {"rem", "", "t:tt", alu, integers<Rem>},
  };
  static const std::vector<Row> all = [] {
    std::vector<Row> r = rows;  // names that serve floats too (real.cpp) are told apart by their types
    for (const char* t : {"s16", "s32", "s64", "u16", "u32", "u64"}) {
      r.push_back({"add", t, "t:tt", alu, bits<Add>});
      r.push_back({"sub", t, "t:tt", alu, bits<Sub>});
      r.push_back({"div", t, "t:tt", alu, integers<Div>});
      r.push_back({"min", t, "t:tt", alu, integers<Min>});
      r.push_back({"max", t, "t:tt", alu, integers<Max>});
      r.push_back({"neg", t, "t:t", alu, one<Neg>});
      r.push_back({"abs", t, "t:t", alu, one<Abs>});
    }
    return r;
  }();
  return all;
}

}  // namespace softgpu::FD_SOFTGPU_SET
