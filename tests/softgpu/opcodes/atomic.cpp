// atom and red: one lane after the other.
#include <bit>
#include <cstring>

#include "opcodes/addresses.hpp"
#include "opcodes/table.hpp"

namespace softgpu {

namespace {

struct Add {
  template <class T>
  static T of(T old, T v, T) {
    return static_cast<T>(old + v);
  }
};
struct Exchange {
  template <class T>
  static T of(T, T v, T) {
    return v;
  }
};
struct CompareSwap {
  template <class T>
  static T of(T old, T v, T other) {
    return old == v ? other : old;
  }
};
struct Min {
  template <class T>
  static T of(T old, T v, T) {
    return v < old ? v : old;
  }
};
struct Max {
  template <class T>
  static T of(T old, T v, T) {
    return old < v ? v : old;
  }
};
struct Inc {
  template <class T>
  static T of(T old, T v, T) {
    return old >= v ? T(0) : static_cast<T>(old + 1);
  }
};
struct Dec {
  template <class T>
  static T of(T old, T v, T) {
    return old == 0 || old > v ? v : static_cast<T>(old - 1);
  }
};
struct And {
  template <class T>
  static T of(T old, T v, T) {
    return old & v;
  }
};
struct Or {
  template <class T>
  static T of(T old, T v, T) {
    return old | v;
  }
};
struct Xor {
  template <class T>
  static T of(T old, T v, T) {
    return old ^ v;
  }
};

enum Order : u8 { acquires = 1, releases = 2 };

template <class T, class F>
void atomic(Warp& w, const Instruction& i, u32 m) {
  u64 a[Lanes] = {};
  addresses_of(w, i.s[0], i.offset[0], m, a);
  const Space space = resolve(w, i, m, a);
  Block& b = *w.block;
  if (space == Space::shared) b.count_banks(a, m, sizeof(T));
  else b.count_sectors(a, m, sizeof(T));
  const T *v = w.from<T>(i.s[1]), *other = i.sources > 2 ? w.from<T>(i.s[2]) : v;
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    u8* p = at(w, space, a[l], sizeof(T), l, Kind::update);
    T old;
    std::memcpy(&old, p, sizeof(T));
    const T result = F::of(old, v[l], other[l]);
    if (i.results) w.to<T>(i.d[0])[l] = old;
    std::memcpy(p, &result, sizeof(T));
    if (space == Space::global) b.order(w, a[l], Kind::update, i.mode & acquires, i.mode & releases);
  }
}

Handler choose(Instruction& i, const Opcode& o) {
  i.mode = static_cast<u8>((o.has("acquire") || o.has("acq_rel") ? acquires : 0) |
                           (o.has("release") || o.has("acq_rel") ? releases : 0));
  if (i.space == Space::shared) i.pipe = shared_memory;
  const std::string& t = o.type();
  if (o.has("async") || o.has("v2") || o.has("v4") || o.has("noftz")) return nullptr;
  if (o.has("add")) {
    return t == "u32" || t == "s32"   ? atomic<u32, Add>
           : t == "u64" || t == "s64" ? atomic<u64, Add>
           : t == "f32"               ? atomic<float, Add>
           : t == "f64"               ? atomic<double, Add>
                                      : nullptr;
  }
  if (o.has("exch")) return t == "b32" ? atomic<u32, Exchange> : t == "b64" ? atomic<u64, Exchange> : nullptr;
  if (o.has("cas"))
    return t == "b32"   ? atomic<u32, CompareSwap>
           : t == "b64" ? atomic<u64, CompareSwap>
           : t == "b16" ? atomic<u16, CompareSwap>
                        : nullptr;
  if (o.has("min"))
    return t == "u32"   ? atomic<u32, Min>
           : t == "s32" ? atomic<i32, Min>
           : t == "u64" ? atomic<u64, Min>
           : t == "s64" ? atomic<i64, Min>
                        : nullptr;
  if (o.has("max"))
    return t == "u32"   ? atomic<u32, Max>
           : t == "s32" ? atomic<i32, Max>
           : t == "u64" ? atomic<u64, Max>
           : t == "s64" ? atomic<i64, Max>
                        : nullptr;
  if (o.has("inc")) return t == "u32" ? atomic<u32, Inc> : nullptr;
  if (o.has("dec")) return t == "u32" ? atomic<u32, Dec> : nullptr;
  if (o.has("and")) return t == "b32" ? atomic<u32, And> : t == "b64" ? atomic<u64, And> : nullptr;
  if (o.has("or")) return t == "b32" ? atomic<u32, Or> : t == "b64" ? atomic<u64, Or> : nullptr;
  if (o.has("xor")) return t == "b32" ? atomic<u32, Xor> : t == "b64" ? atomic<u64, Xor> : nullptr;
  return nullptr;
}

}  // namespace

const std::vector<Row>& atomic_rows() {
  static const std::vector<Row> rows = {{"atom", "", "t:at?t", global_memory, choose}, {"red", "", ":at", global_memory, choose}};
  return rows;
}

}  // namespace softgpu
