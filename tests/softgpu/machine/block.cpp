#include "machine/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softgpu {

Block::Block(Launch& l)
    : launch(l),
      module(*l.loaded->module),
      kernel(*l.kernel),
      memory(*l.memory),
      checks(l.options.checks),
      count(l.threads[0] * l.threads[1] * l.threads[2]) {
  warps.resize((count + Lanes - 1) / Lanes);
  const u32 bytes = kernel.calls ? module.function_registers : kernel.register_bytes;
  for (u32 i = 0; i < warps.size(); ++i) {
    Warp& w = warps[i];
    w.block = this, w.index = i;
    w.memory.resize(bytes + 512);
    w.registers = reinterpret_cast<u8*>((reinterpret_cast<std::uintptr_t>(w.memory.data()) + 255) / 256 * 256);
    w.constants = l.loaded->constants.data();
    w.predicates.resize(kernel.calls ? module.function_predicates : kernel.predicates);
    w.slots.resize(kernel.calls ? std::size_t(module.slot_bytes) * Lanes : 0);
    w.local.resize(std::size_t(kernel.local_bytes + (kernel.calls ? module.function_local : 0)) * Lanes);
  }
  order_.resize(warps.size());
}

void Block::fault(const Warp& w, int lane, Error code, const std::string& what) const {
  const u32 t = w.index * Lanes + static_cast<u32>(std::max(lane, 0));
  const auto triple = [](u32 x, u32 y, u32 z) {
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  };
  std::string text =
      what + "; kernel " + kernel.name + ", device " + std::to_string(launch.device) + ", block " + triple(id[0], id[1], id[2]) +
      ", thread " +
      triple(t % launch.threads[0], t / launch.threads[0] % launch.threads[1], t / launch.threads[0] / launch.threads[1]);
  if (now) {
    std::string line = now->line && now->line <= module.lines.size() ? module.lines[now->line - 1] : "";
    std::replace(line.begin(), line.end(), '\t', ' ');
    const auto a = line.find_first_not_of(' ');
    text += ", PTX line " + std::to_string(now->line) + ": " + (a == std::string::npos ? "" : line.substr(a));
  }
  throw Fault(code, text);
}

void Block::begin() {
  shared.begin(kernel.static_shared + launch.dynamic_shared);
  phase = 0, left = launch.options.limit, moments = 1;
  acquired.clear();
  steps_.forget();
  recent_[0] = recent_[1] = nullptr;
  for (Barrier& b : barriers) b = {};
  for (u32 i = 0; i < warps.size(); ++i) {
    Warp& w = warps[i];
    const u32 rest = count - i * Lanes;
    w.live = rest >= Lanes ? ~0u : (1u << rest) - 1;
    w.waiting = false;
    w.paths.assign(1, {kernel.begin, w.live, nowhere, false});
    w.step = 1, w.seen = {}, w.fenced = false, w.carry = 0;
    new_moment(w);
    w.observed.clear(), w.copies.clear();
    w.steps.forget();
    std::fill(w.memory.begin(), w.memory.end(), 0xff);
    std::fill(w.local.begin(), w.local.end(), 0xff);
    std::fill(w.predicates.begin(), w.predicates.end(), 0xdeadbeef);
    w.predicates[0] = 0, w.predicates[1] = ~0u;
    std::fill(w.groups, w.groups + Lanes, 1);
    const auto preset = [&](const Preset& p) {
      for (u32 l = 0; l < Lanes; ++l) {
        const u32 t = i * Lanes + l;
        u64 v = 0;
        switch (p.what) {
          case Special::tid_x: v = t % launch.threads[0]; break;
          case Special::tid_y: v = t / launch.threads[0] % launch.threads[1]; break;
          case Special::tid_z: v = t / launch.threads[0] / launch.threads[1]; break;
          case Special::ctaid_x: v = id[0]; break;
          case Special::ctaid_y: v = id[1]; break;
          case Special::ctaid_z: v = id[2]; break;
          case Special::ntid_x: v = launch.threads[0]; break;
          case Special::ntid_y: v = launch.threads[1]; break;
          case Special::ntid_z: v = launch.threads[2]; break;
          case Special::nctaid_x: v = launch.grid[0]; break;
          case Special::nctaid_y: v = launch.grid[1]; break;
          case Special::nctaid_z: v = launch.grid[2]; break;
          case Special::laneid: v = l; break;
          case Special::warpid: v = i; break;
          case Special::nwarpid: v = 64; break;
          case Special::smid: v = number % static_cast<u32>(launch.sms); break;
          case Special::nsmid: v = static_cast<u32>(launch.sms); break;
          case Special::gridid: v = launch.step->number; break;
          case Special::lanemask_eq: v = 1u << l; break;
          case Special::lanemask_lt: v = (1u << l) - 1; break;
          case Special::lanemask_le: v = (2u << l) - 1; break;
          case Special::lanemask_gt: v = ~((2u << l) - 1); break;
          case Special::lanemask_ge: v = ~((1u << l) - 1); break;
          case Special::dynamic_smem_size: v = launch.dynamic_shared; break;
          case Special::total_smem_size: v = shared.size(); break;
        }
        if (p.where.width == 8) w.to<u64>(p.where)[l] = v;
        else w.to<u32>(p.where)[l] = static_cast<u32>(v);
      }
    };
    for (const Preset& p : kernel.presets) preset(p);
    if (kernel.calls)
      for (const Function& f : module.functions)
        if (!f.kernel)
          for (const Preset& p : f.presets) preset(p);
  }
}

// Lanes of the running path go on at several places and meet at `meet`. An entry that would only wait at its own meeting point is not kept, so the
// stack of a loop does not grow.
void Block::part(Warp& w, const u32* targets, const u32* masks, int n, u32 meet) {
  Path& here = w.paths.back();
  if (meet == nowhere || meet == here.meet) {
    const u32 outer = here.meet;
    w.paths.pop_back();
    for (int k = n - 1; k >= 0; --k)
      if (meet == nowhere || targets[k] != meet) w.paths.push_back({targets[k], masks[k], meet == nowhere ? outer : meet, false});
    // with no common point inside, every path still ends where the outer one does
    return;
  }
  here.pc = meet;
  for (int k = n - 1; k >= 0; --k)
    if (targets[k] != meet) w.paths.push_back({targets[k], masks[k], meet, false});
}

void Block::branch(Warp& w, const Instruction& i, u32 active) {
  Path& here = w.paths.back();
  const u32 next = here.pc + 1;
  if (i.flow == Flow::branch) {
    if (active == here.mask || active == 0) {
      here.pc = active ? i.target : next;
      return;
    }
    const u32 targets[2] = {next, i.target}, masks[2] = {here.mask & ~active, active};
    part(w, targets, masks, 2, i.meet);
    return;
  }
  const std::vector<u32>& table = module.tables[i.target];
  const u32* index = w.from<u32>(i.s[0]);
  u32 targets[Lanes + 1], masks[Lanes + 1];
  int n = 0;
  const auto add = [&](u32 target, u32 mask) {
    int k = 0;
    while (k < n && targets[k] != target) ++k;
    if (k == n) targets[n] = target, masks[n++] = 0;
    masks[k] |= mask;
  };
  if (here.mask & ~active) add(next, here.mask & ~active);
  for (u32 m = active; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    if (index[l] >= table.size())
      fault(w, l, Error::launch_failed, "brx.idx past the end of its table, index " + std::to_string(index[l]));
    add(table[index[l]], 1u << l);
  }
  if (n == 1) here.pc = targets[0];
  else part(w, targets, masks, n, i.meet);
}

namespace {
void copy_slots(Warp& w, const std::vector<Slot>& from, const std::vector<Slot>& to, u32 mask) {
  for (std::size_t k = 0; k < from.size(); ++k)
    for (u32 m = mask; m; m &= m - 1) {
      const u32 l = static_cast<u32>(std::countr_zero(m));
      std::memcpy(&w.slots[std::size_t(to[k].offset) * Lanes + l * to[k].size],
                  &w.slots[std::size_t(from[k].offset) * Lanes + l * from[k].size], from[k].size);
    }
}
}  // namespace

void Block::call(Warp& w, const Instruction& i, u32 active) {
  Path& here = w.paths.back();
  ++here.pc;
  if (!active) return;
  if (w.paths.size() > 256)
    fault(w, std::countr_zero(active), Error::launch_failed, "calls are nested too deeply; recursion is not known");
  const Call& c = module.calls[i.target];
  const Function& f = module.functions[c.function];
  copy_slots(w, c.in, f.in, active);
  here.calls = true;
  w.paths.push_back({f.begin, active, nowhere, false});
}

void Block::leave(Warp& w, const Instruction&, u32 active) {  // ret of a function
  Path& here = w.paths.back();
  std::size_t k = w.paths.size() - 1;
  while (k > 0 && !w.paths[k].calls) --k;
  const Call& c = module.calls[module.code[w.paths[k].pc - 1].target];
  copy_slots(w, module.functions[c.function].out, c.out, active);
  here.mask &= ~active;
  ++here.pc;
  // entries between that would wait for these lanes at a meeting point do so no longer
  for (std::size_t e = k + 1; e < w.paths.size(); ++e) w.paths[e].mask &= ~active;
}

void Block::end_lanes(Warp& w, u32 active) {
  if (checks)
    for (const AsyncCopy& c : w.copies)
      if (active >> c.lane & 1) fault(w, c.lane, Error::launch_failed, "the thread ends, and a cp.async was not waited for");
  w.live &= ~active;
  ++w.paths.back().pc;
  for (Path& p : w.paths) p.mask &= ~active;
}

void Block::step(Warp& w) {
  const Instruction* code = module.code.data();
  Counters::Line* lines = launch.counters.lines.data();
  for (u32 n = 0; n < turn; ++n) {
    Path* path = &w.paths.back();
    while (path->mask == 0 || path->pc == path->meet) {
      w.paths.pop_back();
      if (w.paths.empty()) break;
      path = &w.paths.back();
      path->calls = false;
    }
    if (w.paths.empty()) {
      w.live = 0;
      for (Barrier& b : barriers)
        if (!b.waiting.empty()) try_complete(b);
      return;
    }
    const Instruction& i = code[path->pc];
    now = &i;
    u32 active = path->mask;
    if (i.guarded) active &= i.guard_negated ? ~w.predicates[i.guard] : w.predicates[i.guard];
    Counters::Line& c = lines[path->pc];
    ++c.runs, c.lanes += static_cast<u64>(std::popcount(active));
    switch (i.flow) {
      case Flow::next:
        if (active) i.run(w, i, active);
        ++path->pc;
        break;
      case Flow::branch:
      case Flow::table: branch(w, i, active); break;
      case Flow::call: call(w, i, active); break;
      case Flow::ret: leave(w, i, active); break;
      case Flow::exit: end_lanes(w, active); break;
      case Flow::barrier:
        arrive(w, i, active);
        if (w.waiting) return;
        break;
    }
  }
  if (left <= turn) fault(w, 0, Error::launch_timeout, "the kernel does not end");
  left -= turn;
}

void Block::arrive(Warp& w, const Instruction& i, u32 active) {
  Path& path = w.paths.back();
  if (i.guarded && active == 0) {
    ++path.pc;
    return;
  }
  if (active != w.live)
    fault(w, std::countr_zero(~active & w.live), Error::launch_failed,
          "barrier in divergent code: only a part of the warp is here");
  const int lane = std::countr_zero(active);
  const u32 which = w.from<u32>(i.s[0])[lane], threads = i.count == 2 ? w.from<u32>(i.s[1])[lane] : 0;
  if (which >= 16) fault(w, lane, Error::launch_failed, "no barrier has the number " + std::to_string(which));
  if (threads % Lanes || threads > (count + Lanes - 1) / Lanes * Lanes)
    fault(w, lane, Error::launch_failed, "a barrier for " + std::to_string(threads) + " threads");
  Barrier& b = barriers[which];
  if (b.here.empty()) b.here.assign(warps.size(), 0), b.expected = threads, b.all = ~0u;
  else if (b.expected != threads)
    fault(w, lane, Error::launch_failed, "barrier " + std::to_string(which) + " is used for different numbers of threads");
  if (b.here[w.index])
    fault(w, lane, Error::launch_failed, "the warp comes to barrier " + std::to_string(which) + " again before it was complete");
  b.here[w.index] = 1;
  b.arrived += Lanes;
  Clock mine = w.seen;
  mine.set(w.index, w.step);
  b.clock.join(mine);
  ++w.step;
  new_moment(w);
  w.steps.forget();
  if (i.mode != 's' && i.mode != 'a') {
    const u32 p = w.predicate(i.s[2]) & active;
    b.ones += static_cast<u32>(std::popcount(p));
    if (p != active) b.all = 0;
  }
  if (i.mode != 'a') {
    w.waiting = true;
    b.waiting.push_back(w.index);
  } else {
    ++path.pc;
  }
  try_complete(b);
}

void Block::try_complete(Barrier& b) {
  if (b.expected) {
    if (b.arrived < b.expected) return;
  } else {
    for (const Warp& w : warps)
      if (w.live && !b.here[w.index]) return;
  }
  ++launch.counters.barriers;
  Barrier done = std::move(b);
  b = {};
  for (const u32 k : done.waiting) {
    Warp& w = warps[k];
    const Instruction& i = module.code[w.paths.back().pc];
    if (i.mode == 'c')
      for (u32 m = w.live; m; m &= m - 1) w.to<u32>(i.d[0])[std::countr_zero(m)] = done.ones;
    else if (i.mode == '&' || i.mode == '|')
      w.set_predicate(i.d[0], (i.mode == '&' ? done.all != 0 : done.ones != 0) ? ~0u : 0, w.live);
    w.seen.join(done.clock);
    w.steps.forget();
    w.waiting = false;
    ++w.paths.back().pc;
  }
}

void Block::run(u32 block_number) {
  number = block_number;
  const u32* g = launch.grid;
  id[0] = number % g[0], id[1] = number / g[0] % g[1], id[2] = number / g[0] / g[1];
  begin();
  std::mt19937_64 random(launch.options.seed * 0x9e3779b97f4a7c15ull + number);
  for (u32 k = 0; k < order_.size(); ++k) order_[k] = k;
  for (;;) {
    std::shuffle(order_.begin(), order_.end(), random);
    bool ran = false;
    for (const u32 k : order_)
      if (warps[k].live && !warps[k].waiting) step(warps[k]), ran = true;
    if (ran) continue;
    for (const Warp& w : warps)
      if (w.waiting) {
        now = &module.code[w.paths.back().pc];
        fault(w, 0, Error::launch_failed, "the barrier waits for warps that never come");
      }
    return;
  }
}

void Launch::run() {
  counters.lines.assign(loaded->module->code.size(), {});
  counters.launches = 1;
  const u64 blocks = u64(grid[0]) * grid[1] * grid[2];
  std::vector<u32> order(blocks);
  for (u32 k = 0; k < blocks; ++k) order[k] = k;
  std::mt19937_64 random(options.seed);
  std::shuffle(order.begin(), order.end(), random);  // nobody promises an order
  Block b(*this);
  for (const u32 k : order) {
    b.run(k);
    ++counters.blocks;
  }
}

}  // namespace softgpu
