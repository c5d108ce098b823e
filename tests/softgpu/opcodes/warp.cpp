// What lanes of a warp do together, and the few that concern no data.
#include "machine/warp.hpp"

#include <bit>
#include <chrono>
#include <cstring>

#include "machine/block.hpp"
#include "opcodes/table.hpp"

namespace softgpu {

namespace {

// All lanes of the mask must be here, and no others; lanes that have ended are forgiven, as the hardware does.
u32 members(Warp& w, const Operand& mask, u32 m, const char* what) {
  const u32 named = w.from<u32>(mask)[std::countr_zero(m)];
  for (u32 k = m; k; k &= k - 1)
    if (w.from<u32>(mask)[std::countr_zero(k)] != named)
      w.block->fault(w, std::countr_zero(k), Error::launch_failed, std::string(what) + ": lanes name different masks");
  if ((named & w.live) != m)
    w.block->fault(w, std::countr_zero((named & w.live) ^ m), Error::launch_failed,
                   std::string(what) + " in divergent code: not exactly the lanes of its mask are here");
  return named;
}

template <int Form>  // 0: butterfly, 1: down, 2: up, 3: index
void shuffle(Warp& w, const Instruction& i, u32 m) {
  members(w, i.s[3], m, "shfl.sync");
  u32 old[Lanes];
  std::memcpy(old, w.from<u32>(i.s[0]), sizeof old);
  const u32 *b = w.from<u32>(i.s[1]), *c = w.from<u32>(i.s[2]);
  u32* d = w.to<u32>(i.d[0]);
  u32 inside = 0;
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    const int segment = (c[l] >> 8) & 31, clamp = c[l] & 31, low = l & segment, high = (l & segment) | (clamp & ~segment),
              n = static_cast<int>(b[l] & 31);
    int from = Form == 0 ? l ^ n : Form == 1 ? l + n : Form == 2 ? l - n : low | (n & ~segment);
    const bool ok = Form == 2 ? from >= high : from <= high;
    if (!ok) from = l;
    if (!(m >> from & 1))
      w.block->fault(w, l, Error::launch_failed, "shfl.sync reads lane " + std::to_string(from) + ", which takes no part");
    inside |= static_cast<u32>(ok) << l;
    d[l] = old[from];
  }
  if (i.results > 1) w.set_predicate(i.d[1], inside, m);
}

void vote(Warp& w, const Instruction& i, u32 m) {
  members(w, i.s[1], m, "vote.sync");
  const u32 p = w.predicate(i.s[0]) & m;
  if (i.mode == 'b') {
    for (u32 k = m; k; k &= k - 1) w.to<u32>(i.d[0])[std::countr_zero(k)] = p;
  } else {
    const bool r = i.mode == 'a' ? p == m : i.mode == 'o' ? p != 0 : p == 0 || p == m;
    w.set_predicate(i.d[0], r ? ~0u : 0, m);
  }
}
template <class T>
void match(Warp& w, const Instruction& i, u32 m) {
  members(w, i.s[1], m, "match.sync");
  const T* a = w.from<T>(i.s[0]);
  u32 r[Lanes] = {}, all = ~0u;
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    for (u32 j = m; j; j &= j - 1)
      if (const int o = std::countr_zero(j); a[o] == a[l]) r[l] |= 1u << o;
    if (r[l] != m) all = 0;
  }
  for (u32 k = m; k; k &= k - 1) w.to<u32>(i.d[0])[std::countr_zero(k)] = i.mode ? (all ? m : 0) : r[std::countr_zero(k)];
  if (i.results > 1) w.set_predicate(i.d[1], all, m);
}
void reduce(Warp& w, const Instruction& i, u32 m) {
  members(w, i.s[1], m, "redux.sync");
  const u32* a = w.from<u32>(i.s[0]);
  u32 r = a[std::countr_zero(m)];
  for (u32 k = m & (m - 1); k; k &= k - 1) {
    const u32 v = a[std::countr_zero(k)];
    switch (i.mode) {
      case '+': r += v; break;
      case '&': r &= v; break;
      case '|': r |= v; break;
      case '^': r ^= v; break;
      case 'm': r = std::min(r, v); break;
      case 'M': r = std::max(r, v); break;
      case 's': r = static_cast<u32>(std::min(static_cast<i32>(r), static_cast<i32>(v))); break;
      default: r = static_cast<u32>(std::max(static_cast<i32>(r), static_cast<i32>(v))); break;
    }
  }
  for (u32 k = m; k; k &= k - 1) w.to<u32>(i.d[0])[std::countr_zero(k)] = r;
}
void active_mask(Warp& w, const Instruction& i, u32 m) {
  for (u32 k = m; k; k &= k - 1) w.to<u32>(i.d[0])[std::countr_zero(k)] = m;
}
void move_matrix(Warp& w, const Instruction& i, u32 m) {
  if (m != ~0u)
    w.block->fault(w, std::countr_zero(~m), Error::launch_failed, "movmatrix in divergent code: only a part of the warp is here");
  const u16* s = w.from<u16>(i.s[0]);  // element (row, column) is s[8 row + column]
  u16 t[64];
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c) t[8 * r + c] = s[8 * c + r];
  std::memcpy(w.to<u32>(i.d[0]), t, sizeof t);
}
void warp_barrier(Warp& w, const Instruction& i, u32 m) {
  members(w, i.s[0], m, "bar.warp.sync");
  w.block->new_moment(w);
}
void nothing(Warp&, const Instruction&, u32) {}
void trap(Warp& w, const Instruction&, u32 m) { w.block->fault(w, std::countr_zero(m), Error::launch_failed, "trap"); }
void clock(Warp& w, const Instruction& i, u32 m) {
  const u64 now = i.mode ? static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count())
                         : (w.block->launch.options.limit - w.block->left) + w.moment;
  for (u32 k = m; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    if (i.d[0].width == 8) w.to<u64>(i.d[0])[l] = now;
    else w.to<u32>(i.d[0])[l] = static_cast<u32>(now);
  }
}

Handler choose_vote(Instruction& i, const Opcode& o) {
  i.mode = o.has("ballot") ? 'b' : o.has("all") ? 'a' : o.has("any") ? 'o' : 'u';
  return vote;
}

}  // namespace

const std::vector<Row>& warp_rows() {
  static const std::vector<Row> rows = {
      {"shfl", "sync", "4:4444", shared_memory,
       [](Instruction&, const Opcode& o) -> Handler {
         return o.has("bfly")   ? shuffle<0>
                : o.has("down") ? shuffle<1>
                : o.has("up")   ? shuffle<2>
                : o.has("idx")  ? shuffle<3>
                                : nullptr;
       }},
      {"vote", "sync ballot", "4:p4", alu, choose_vote},
      {"vote", "sync", "p:p4", alu, choose_vote},
      {"match", "sync", "4:t4", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         i.mode = o.has("all");
         return o.type() == "b64" ? match<u64> : match<u32>;
       }},
      {"redux", "sync", "4:44", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         const bool sign = o.type() == "s32";
         i.mode = o.has("add")   ? '+'
                  : o.has("and") ? '&'
                  : o.has("or")  ? '|'
                  : o.has("xor") ? '^'
                  : o.has("min") ? (sign ? 's' : 'm')
                  : o.has("max") ? (sign ? 'S' : 'M')
                                 : 0;
         return i.mode && o.type() != "f32" ? reduce : nullptr;
       }},
      {"activemask", "", "4:", alu, [](Instruction&, const Opcode&) -> Handler { return active_mask; }},
      {"movmatrix", "sync aligned m8n8 trans b16", "4:4", shared_memory,
       [](Instruction&, const Opcode&) -> Handler { return move_matrix; }},
      {"bar", "warp sync", ":4", control, [](Instruction&, const Opcode&) -> Handler { return warp_barrier; }},
      {"nanosleep", "", ":4", control, [](Instruction&, const Opcode&) -> Handler { return nothing; }},
      {"trap", "", ":", control, [](Instruction&, const Opcode&) -> Handler { return trap; }},
      {"clock", "", "t:", alu,
       [](Instruction& i, const Opcode& o) -> Handler {
         i.mode = o.has("globaltimer");
         return clock;
       }},
  };
  return rows;
}

}  // namespace softgpu
