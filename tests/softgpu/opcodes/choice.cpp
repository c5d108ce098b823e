// Comparisons, selections, moves.
#include "machine/block.hpp"
#include "opcodes/lanes.hpp"

namespace softgpu::FD_SOFTGPU_SET {

namespace {

enum Comparison : u8 { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
int comparison(const std::string& c) {
  static const std::vector<std::pair<const char*, int>> names = {
      {"eq", eq}, {"ne", ne},   {"lt", lt},   {"le", le},   {"gt", gt},   {"ge", ge},   {"lo", lt},   {"ls", le},   {"hi", gt},
      {"hs", ge}, {"equ", equ}, {"neu", neu}, {"ltu", ltu}, {"leu", leu}, {"gtu", gtu}, {"geu", geu}, {"num", num}, {"nan", nan}};
  for (const auto& [name, value] : names)
    if (c == name) return value;
  return -1;
}

// Ordered comparisons are false with a NaN, unordered ones true; C++'s != is already unordered, PTX's ne is not.
template <class T, int C>
inline bool compared(T a, T b) {
  if constexpr (C == eq) return a == b;
  else if constexpr (C == ne) return std::is_floating_point_v<T> ? a < b || a > b : a != b;
  else if constexpr (C == lt) return a < b;
  else if constexpr (C == le) return a <= b;
  else if constexpr (C == gt) return a > b;
  else if constexpr (C == ge) return a >= b;
  else if constexpr (C == equ) return !(a < b || a > b);
  else if constexpr (C == neu) return a != b;
  else if constexpr (C == ltu) return !(a >= b);
  else if constexpr (C == leu) return !(a > b);
  else if constexpr (C == gtu) return !(a <= b);
  else if constexpr (C == geu) return !(a < b);
  else if constexpr (C == num) return a == a && b == b;
  else return a != a || b != b;
}

template <class T, int C>
void compare(Warp& w, const Instruction& i, u32 m) {
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  u32 flags[Lanes], r = 0;
  for (int l = 0; l < Lanes; ++l) flags[l] = compared<T, C>(a[l], b[l]);
  for (int l = 0; l < Lanes; ++l) r |= flags[l] << l;
  u32 other = ~r;
  if (i.sources > 2) {  // combined with a predicate
    const u32 p = w.predicate(i.s[2]);
    const auto with = [&](u32 v) { return i.mode == '&' ? v & p : i.mode == '|' ? v | p : v ^ p; };
    r = with(r), other = with(other);
  }
  w.set_predicate(i.d[0], r, m);
  if (i.results > 1) w.set_predicate(i.d[1], other, m);
}
template <class T>
Handler compare_by(int c) {
  static constexpr Handler handlers[] = {compare<T, eq>,  compare<T, ne>,  compare<T, lt>,  compare<T, le>,  compare<T, gt>,
                                         compare<T, ge>,  compare<T, equ>, compare<T, neu>, compare<T, ltu>, compare<T, leu>,
                                         compare<T, gtu>, compare<T, geu>, compare<T, num>, compare<T, nan>};
  return c < 0 || (std::is_integral_v<T> && c > ge) ? nullptr : handlers[c];
}
Handler choose_compare(Instruction& i, const Opcode& o) {
  i.mode = o.has("and") ? '&' : o.has("or") ? '|' : o.has("xor") ? '^' : 0;
  if ((i.mode != 0) != (i.sources > 2)) return nullptr;
  const int c = o.parts.size() < 3 ? -1 : comparison(o.parts[1]);
  if (const Handler h = by_real(o.type(), [&](auto t) { return compare_by<decltype(t)>(c); })) return h;
  return by_integer(o.type(), [&](auto t) { return compare_by<decltype(t)>(c); });
}

template <class T>
void select(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  const u32 p = w.predicate(i.s[2]);
  each(m, [=](int l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
}
template <class T, class C>
void select_by_sign(Warp& w, const Instruction& i, u32 m) {  // slct
  T* d = w.to<T>(i.d[0]);
  const T *a = w.from<T>(i.s[0]), *b = w.from<T>(i.s[1]);
  const C* c = w.from<C>(i.s[2]);
  each(m, [=](int l) { d[l] = c[l] >= 0 ? a[l] : b[l]; });
}
template <class T>
void test(Warp& w, const Instruction& i, u32 m) {  // testp
  const T* a = w.from<T>(i.s[0]);
  u32 r = 0;
  for (int l = 0; l < Lanes; ++l) {
    const int c = std::fpclassify(a[l]);
    const bool v = i.mode == 'f'   ? c != FP_INFINITE && c != FP_NAN
                   : i.mode == 'i' ? c == FP_INFINITE
                   : i.mode == 'n' ? c == FP_NAN
                   : i.mode == 'u' ? c != FP_NAN
                   : i.mode == 'o' ? c == FP_NORMAL
                                   : c == FP_SUBNORMAL;
    r |= static_cast<u32>(v) << l;
  }
  w.set_predicate(i.d[0], r, m);
}

template <class T>
void move(Warp& w, const Instruction& i, u32 m) {
  T* d = w.to<T>(i.d[0]);
  const T* a = w.from<T>(i.s[0]);
  each(m, [=](int l) { d[l] = a[l]; });
}
void move_predicate(Warp& w, const Instruction& i, u32 m) { w.set_predicate(i.d[0], w.predicate(i.s[0]), m); }
template <class Part, int N>
void unpack(Warp& w, const Instruction& i, u32 m) {
  Part whole[Lanes * N];
  std::memcpy(whole, w.from<Part>(i.s[0]), sizeof whole);  // a result may be a part of the source
  for (int k = 0; k < N; ++k) {
    Part* d = w.to<Part>(i.d[k]);
    each(m, [&](int l) { d[l] = whole[l * N + k]; });
  }
}
template <class Part, int N>
void pack(Warp& w, const Instruction& i, u32 m) {
  Part whole[Lanes * N];
  for (int k = 0; k < N; ++k) {
    const Part* a = w.from<Part>(i.s[k]);
    for (int l = 0; l < Lanes; ++l) whole[l * N + k] = a[l];
  }
  u8* d = w.to<u8>(i.d[0]);
  each(m, [&](int l) { std::memcpy(d + l * N * sizeof(Part), &whole[l * N], N * sizeof(Part)); });
}
Handler choose_move(Instruction& i, const Opcode&) {
  const int wide = i.d[0].width, from = i.s[0].width;
  const auto all = [](const Operand* o, int n, int width) {
    for (int k = 0; k < n; ++k)
      if (o[k].width != width) return false;
    return true;
  };
  if (i.results > 1) {
    if (!all(i.d, i.results, from / i.results)) return nullptr;
    return from == 8                     ? (i.results == 2   ? unpack<u32, 2>
                                            : i.results == 4 ? unpack<u16, 4>
                                                             : nullptr)
           : from == 4                   ? (i.results == 2   ? unpack<u16, 2>
                                            : i.results == 4 ? unpack<u8, 4>
                                                             : nullptr)
           : from == 2 && i.results == 2 ? unpack<u8, 2>
                                         : nullptr;
  }
  if (i.sources > 1) {
    if (!all(i.s, i.sources, wide / i.sources)) return nullptr;
    return wide == 8                     ? (i.sources == 2   ? pack<u32, 2>
                                            : i.sources == 4 ? pack<u16, 4>
                                                             : nullptr)
           : wide == 4                   ? (i.sources == 2   ? pack<u16, 2>
                                            : i.sources == 4 ? pack<u8, 4>
                                                             : nullptr)
           : wide == 2 && i.sources == 2 ? pack<u8, 2>
                                         : nullptr;
  }
  if (wide != from) return nullptr;
  return wide == 8 ? move<u64> : wide == 4 ? move<u32> : wide == 2 ? move<u16> : nullptr;
}

// Generic addresses of shared and local memory lie in windows; those of global and constant memory are the same.
void window(Warp& w, const Instruction& i, u32 m) {
  u64* d = w.to<u64>(i.d[0]);
  const u64* a = w.from<u64>(i.s[0]);
  const u64 base = i.space == Space::shared  ? shared_window
                   : i.space == Space::local ? local_window
                                             : 0,
            add = i.mode ? 0 - base : base;
  each(m, [=](int l) { d[l] = a[l] + add; });
}

}  // namespace

const std::vector<Row>& choice_rows() {
  static const std::vector<Row> rows = {
      {"setp", "", "q:tt?p", alu, choose_compare},
      {"selp", "", "t:ttp", alu,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.type().ends_with("64")   ? select<u64>
                : o.type().ends_with("32") ? select<u32>
                : o.type().ends_with("16") ? select<u16>
                                           : nullptr;
       }},
      {"slct", "", "D:DDt", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         const bool real = o.type() == "f32";
         return i.d[0].width == 8   ? (real ? select_by_sign<u64, float> : select_by_sign<u64, i32>)
                : i.d[0].width == 4 ? (real ? select_by_sign<u32, float> : select_by_sign<u32, i32>)
                                    : nullptr;
       }},
      {"testp", "", "p:t", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         i.mode = o.has("finite")       ? 'f'
                  : o.has("infinite")   ? 'i'
                  : o.has("notanumber") ? 'n'
                  : o.has("number")     ? 'u'
                  : o.has("normal")     ? 'o'
                                        : 's';
         return o.type() == "f64" ? test<double> : test<float>;
       }},
      {"mov", "pred", "p:p", alu, [](Instruction&, const Opcode&) -> Handler { return move_predicate; }},
      {"mov", "", "v:v", alu, choose_move},
      {"cvta", "", "t:t", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         i.mode = o.has("to");
         return i.d[0].width == 8 && i.space != Space::param ? window : nullptr;
       }},
  };
  return rows;
}

}  // namespace softgpu::FD_SOFTGPU_SET
