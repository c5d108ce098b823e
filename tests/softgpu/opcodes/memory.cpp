// Loads, stores, cp.async, fences, ldmatrix: every address goes through the checks of machine/.
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/block.hpp"
#include "opcodes/addresses.hpp"
#include "opcodes/table.hpp"

namespace softgpu {

namespace {

enum Order : u8 { strong = 1, acquires = 4, releases = 8, is_signed = 16 };  // of Instruction::mode; 2 is a .param of a function

// What lanes find at `from`, `at` bytes further on, becomes their part of a register; copies of a fixed size are single instructions.
template <class T>
void put(Warp& w, const Operand& to, const u8* const (&from)[Lanes], std::size_t at, u32 m) {
  T* d = w.to<T>(to);
  if (m == ~0u)
    for (int l = 0; l < Lanes; ++l) std::memcpy(&d[l], from[l] + at, sizeof(T));
  else
    for (; m; m &= m - 1) std::memcpy(&d[std::countr_zero(m)], from[std::countr_zero(m)] + at, sizeof(T));
}
void put(Warp& w, const Instruction& i, const u8* const (&from)[Lanes], u32 m) {
  for (int c = 0; c < i.count; ++c) {
    const Operand& to = i.d[c];
    const std::size_t at = static_cast<std::size_t>(c) * i.size;
    if (i.size == 4 && to.width == 4) put<u32>(w, to, from, at, m);
    else if (i.size == 8 && to.width == 8) put<u64>(w, to, from, at, m);
    else
      for (u32 k = m; k; k &= k - 1) {
        const int l = std::countr_zero(k);
        u64 v = 0;
        std::memcpy(&v, from[l] + at, i.size);
        if (i.mode & is_signed && i.size < 8 && v >> (i.size * 8 - 1)) v |= ~u64(0) << i.size * 8;
        std::memcpy(w.to<u8>(to) + l * to.width, &v, to.width);
      }
  }
}
// What lanes write, side by side.
void take(const Warp& w, const Instruction& i, u8* to, int lane) {
  for (int c = 0; c < i.count; ++c) {
    const Operand& from = i.s[1 + c];
    const u8* p = w.from<u8>(from) + lane * from.width;
    if (i.size == 4) std::memcpy(to + c * 4, p, 4);
    else if (i.size == 8) std::memcpy(to + c * 8, p, 8);
    else std::memcpy(to + c * i.size, p, i.size);
  }
}

void load(Warp& w, const Instruction& i, u32 m) {
  u64 a[Lanes];
  addresses_of(w, i.s[0], i.offset[0], m, a);
  Block& b = *w.block;
  const u32 bytes = static_cast<u32>(i.size) * i.count;
  const Kind kind = i.mode & strong ? Kind::strong_read : Kind::read;
  const Space space = resolve(w, i, m, a);
  if (space == Space::shared) b.count_banks(a, m, bytes);
  else if (space != Space::local) b.count_sectors(a, m, bytes);
  const u8* from[Lanes];
  if (space == Space::shared && kind == Kind::read) {
    b.shared.read(w, a, bytes, m);
    for (u32 k = m; k; k &= k - 1) from[std::countr_zero(k)] = b.shared.data() + a[std::countr_zero(k)];
  } else {
    for (u32 k = m; k; k &= k - 1) {
      const int l = std::countr_zero(k);
      from[l] = at(w, space, a[l], bytes, l, kind);
      if (i.mode & strong && space == Space::global) b.order(w, a[l], kind, i.mode & acquires, false);
    }
  }
  put(w, i, from, m);
}
void store(Warp& w, const Instruction& i, u32 m) {
  u64 a[Lanes] = {};
  addresses_of(w, i.s[0], i.offset[0], m, a);
  Block& b = *w.block;
  const u32 bytes = static_cast<u32>(i.size) * i.count;
  const Kind kind = i.mode & strong ? Kind::strong_write : Kind::write;
  const Space space = resolve(w, i, m, a);
  if (space == Space::shared) b.count_banks(a, m, bytes);
  else if (space != Space::local) b.count_sectors(a, m, bytes);
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    u8 value[64];
    take(w, i, value, l);
    u8* p = at(w, space, a[l], bytes, l, kind, value);
    std::memcpy(p, value, bytes);
    if (i.mode & strong && space == Space::global) b.order(w, a[l], kind, false, i.mode & releases);
  }
}

void load_parameter(Warp& w, const Instruction& i, u32 m) {
  const u32 bytes = static_cast<u32>(i.size) * i.count;
  const u8* from[Lanes];
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    if (i.mode & 2) {  // of a function
      from[l] = &w.slots[std::size_t(i.target) * Lanes + static_cast<std::size_t>(l) * w.from<u64>(i.s[0])[0] +
                         static_cast<u32>(i.offset[0])];
    } else {
      const u64 at = w.from<u64>(i.s[0])[l] + static_cast<u64>(static_cast<i64>(i.offset[0]));
      if (at + bytes > w.block->launch.parameters.size())
        w.block->fault(w, l, Error::illegal_address, "read outside of the kernel's parameters");
      from[l] = &w.block->launch.parameters[at];
    }
  }
  put(w, i, from, m);
}
void store_parameter(Warp& w, const Instruction& i, u32 m) {
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    u8* p = &w.slots[std::size_t(i.target) * Lanes + static_cast<std::size_t>(l) * w.from<u64>(i.s[0])[0] +
                     static_cast<u32>(i.offset[0])];
    take(w, i, p, l);
  }
}

u8 order_of(const Opcode& o) {
  return static_cast<u8>((o.has("volatile") || o.has("relaxed") || o.has("acquire") || o.has("release") ? strong : 0) |
                         (o.has("acquire") ? acquires : 0) | (o.has("release") ? releases : 0) |
                         (o.type()[0] == 's' ? is_signed : 0));
}
Handler choose_load(Instruction& i, const Opcode& o) {
  if (i.results != i.count || o.has("mmio") || o.has("async") || o.has("shared_cluster")) return nullptr;
  i.mode = static_cast<u8>(i.mode | order_of(o));
  if (i.space == Space::param) {
    i.pipe = alu;
    return load_parameter;
  }
  if (i.space == Space::shared) i.pipe = shared_memory;
  return load;
}
Handler choose_store(Instruction& i, const Opcode& o) {
  if (i.sources != i.count + 1 || o.has("mmio") || o.has("async") || o.has("shared_cluster") || i.space == Space::constant)
    return nullptr;
  i.mode = static_cast<u8>(i.mode | order_of(o));
  if (i.space == Space::param) {
    i.pipe = alu;
    return i.mode & 2 ? store_parameter : nullptr;
  }
  if (i.space == Space::shared) i.pipe = shared_memory;
  return store;
}

void copy_async(Warp& w, const Instruction& i, u32 m) {
  u64 to[Lanes] = {}, from[Lanes] = {};
  addresses_of(w, i.s[0], i.offset[0], m, to);
  addresses_of(w, i.s[1], i.offset[1], m, from);
  for (u32 k = m; k; k &= k - 1)
    if (const int l = std::countr_zero(k); to[l] >= shared_window) to[l] -= shared_window;
  const u32 size = *w.from<u32>(i.s[2]);
  w.block->count_banks(to, m, size);
  w.block->count_sectors(from, m, size);
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    const u32 real = i.sources > 3 ? w.from<u32>(i.s[3])[l] : size;
    w.block->start_copy(w, {static_cast<u32>(to[l]), size, real, from[l], w.groups[l], static_cast<u8>(l)});
  }
}
void commit(Warp& w, const Instruction&, u32 m) {
  for (u32 k = m; k; k &= k - 1) ++w.groups[std::countr_zero(k)];
}
void wait_group(Warp& w, const Instruction& i, u32 m) { w.block->finish_copies(w, m, *w.from<u32>(i.s[0])); }
void wait_all(Warp& w, const Instruction& i, u32 m) {
  commit(w, i, m);
  w.block->finish_copies(w, m, 0);
}

template <bool Transposed>
void load_matrix(Warp& w, const Instruction& i, u32 m) {
  Block& b = *w.block;
  if (m != ~0u)
    b.fault(w, std::countr_zero(~m), Error::launch_failed, "ldmatrix in divergent code: only a part of the warp is here");
  u64 a[Lanes] = {};
  addresses_of(w, i.s[0], i.offset[0], m, a);
  for (u64& x : a)
    if (x >= shared_window) x -= shared_window;
  b.count_banks(a, i.count == 4 ? ~0u : (1u << 8 * i.count) - 1, 16);
  for (int c = 0; c < i.count; ++c) {
    u16 rows[8][8];
    for (int r = 0; r < 8; ++r) {
      b.shared.access(w, static_cast<u32>(a[8 * c + r]), 16, 8 * c + r, Kind::read);
      std::memcpy(rows[r], b.shared.data() + a[8 * c + r], 16);
    }
    u32* d = w.to<u32>(i.d[c]);
    for (int l = 0; l < Lanes; ++l) {
      const int g = l / 4, q = 2 * (l % 4);
      d[l] =
          Transposed ? rows[q][g] | static_cast<u32>(rows[q + 1][g]) << 16 : rows[g][q] | static_cast<u32>(rows[g][q + 1]) << 16;
    }
  }
}

void fence(Warp& w, const Instruction&, u32) { w.block->fence(w); }
void nothing(Warp&, const Instruction&, u32) {}
Handler choose_fence(Instruction&, const Opcode& o) {
  if (o.has("proxy") || o.has("mbarrier_init")) return nullptr;
  return o.has("cta") ? nothing : fence;  // within a block, warps are ordered by barriers
}

}  // namespace

const std::vector<Row>& memory_rows() {
  static const std::vector<Row> rows = {
      {"ld", "", "v:a", global_memory, choose_load},
      {"ldu", "", "v:a", global_memory, choose_load},
      {"st", "", ":av", global_memory, choose_store},
      {"cp", "async commit_group", ":", control,
       [](Instruction&, const Opcode& o) -> Handler { return o.has("bulk") ? nullptr : commit; }},
      {"cp", "async wait_group", ":4", control,
       [](Instruction&, const Opcode& o) -> Handler { return o.has("bulk") ? nullptr : wait_group; }},
      {"cp", "async wait_all", ":", control, [](Instruction&, const Opcode&) -> Handler { return wait_all; }},
      {"cp", "async shared global", ":aa4?4", global_memory,
       [](Instruction& i, const Opcode& o) -> Handler { return o.has("bulk") || !i.s[2].constant ? nullptr : copy_async; }},
      {"ldmatrix", "sync aligned m8n8 shared b16", "v:a", shared_memory,
       [](Instruction& i, const Opcode& o) -> Handler {
         return i.results != i.count ? nullptr : o.has("trans") ? load_matrix<true> : load_matrix<false>;
       }},
      {"membar", "", ":", control, choose_fence},
      {"fence", "", ":", control, choose_fence},
      {"prefetch", "", ":a", control, [](Instruction&, const Opcode&) -> Handler { return nothing; }},
  };
  return rows;
}

}  // namespace softgpu
