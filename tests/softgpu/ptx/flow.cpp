#include "ptx/flow.hpp"

#include <algorithm>

namespace softgpu {

// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the graph of basic blocks with its edges turned round. The end of the
// function is a block of its own, the last.
void find_meeting_points(Module& module, const Function& f) {
  const u32 n = f.end - f.begin;
  if (n == 0) return;
  std::vector<u8> leads(n + 1, 0);
  leads[0] = 1;
  const auto lead = [&](u32 instruction) { leads[instruction - f.begin] = 1; };
  for (u32 i = f.begin; i < f.end; ++i) {
    const Instruction& x = module.code[i];
    if (x.flow == Flow::branch) lead(x.target);
    if (x.flow == Flow::table)
      for (const u32 t : module.tables[x.target]) lead(t);
    if (x.flow != Flow::next && x.flow != Flow::barrier && x.flow != Flow::call) lead(i + 1);
  }
  std::vector<u32> block_of(n + 1), first;
  for (u32 i = 0; i < n; ++i) {
    if (leads[i]) first.push_back(i);
    block_of[i] = static_cast<u32>(first.size() - 1);
  }
  const u32 blocks = static_cast<u32>(first.size()), exit = blocks;
  block_of[n] = exit;

  std::vector<std::vector<u32>> next(blocks + 1), before(blocks + 1);
  for (u32 b = 0; b < blocks; ++b) {
    const u32 last = (b + 1 < blocks ? first[b + 1] : n) - 1;
    const Instruction& x = module.code[f.begin + last];
    const bool may_pass = x.guarded || x.flow == Flow::next || x.flow == Flow::barrier || x.flow == Flow::call;
    if (x.flow == Flow::branch) next[b].push_back(block_of[x.target - f.begin]);
    if (x.flow == Flow::table)
      for (const u32 t : module.tables[x.target]) next[b].push_back(block_of[t - f.begin]);
    if (x.flow == Flow::ret || x.flow == Flow::exit) next[b].push_back(exit);
    if (may_pass) next[b].push_back(b + 1 < blocks ? b + 1 : exit);
    for (const u32 s : next[b]) before[s].push_back(b);
  }

  // numbers in postorder of a walk from the exit backwards; blocks that never end are left out
  std::vector<u32> number(blocks + 1, nowhere), order, dominator(blocks + 1, nowhere);
  std::vector<u8> seen(blocks + 1, 0);
  std::vector<std::pair<u32, std::size_t>> walk{{exit, 0}};
  seen[exit] = 1;
  while (!walk.empty()) {
    auto& [b, k] = walk.back();
    if (k < before[b].size()) {
      const u32 p = before[b][k++];
      if (!seen[p]) {
        seen[p] = 1;
        walk.emplace_back(p, 0);
      }
    } else {
      number[b] = static_cast<u32>(order.size());
      order.push_back(b);
      walk.pop_back();
    }
  }
  dominator[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const u32 b = *it;
      if (b == exit) continue;
      u32 common = nowhere;
      for (const u32 s : next[b]) {
        if (dominator[s] == nowhere) continue;
        if (common == nowhere) common = s;
        for (u32 other = s; common != other;) {
          while (number[common] < number[other]) common = dominator[common];
          while (number[other] < number[common]) other = dominator[other];
        }
      }
      if (common != dominator[b]) dominator[b] = common, changed = true;
    }
  }
  for (u32 b = 0; b < blocks; ++b) {
    Instruction& x = module.code[f.begin + (b + 1 < blocks ? first[b + 1] : n) - 1];
    if (x.flow != Flow::branch && x.flow != Flow::table) continue;
    x.meet = dominator[b] == nowhere || dominator[b] == exit ? nowhere : f.begin + first[dominator[b]];
  }
}

}  // namespace softgpu
