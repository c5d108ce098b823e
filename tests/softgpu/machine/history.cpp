#include "machine/history.hpp"

#include <algorithm>
#include <unordered_map>

namespace softgpu {

namespace {

u64 mix(u64 h, u64 v) {
  h ^= v;
  h *= 0x9e3779b97f4a7c15ull;
  return h ^ h >> 29;
}
u64 hash(u64 h, const Access& a) {
  h = mix(h, u64(a.actor) << 32 | a.epoch);
  h = mix(h, u64(a.part) << 32 | a.phase);
  return mix(h, u64(a.bytes) << 1 | static_cast<u64>(a.strong));
}

// Puts `me` into the list: entries that it covers go, one of the same step is widened.
void place(std::vector<Access>& list, const Access& me, const Order& order, bool add) {
  std::erase_if(list, [&](const Access& a) { return (a.bytes & ~me.bytes) == 0 && order.before(a); });
  if (!add) return;
  for (Access& a : list)
    if (a.actor == me.actor && a.epoch == me.epoch && a.strong == me.strong && a.bytes == me.bytes) {
      if (a.part != me.part) a.part = many;
      a.phase = std::max(a.phase, me.phase);
      return;
    }
  list.push_back(me);
}

}  // namespace

void History::clear() {
  pool_.clear();
  states_.assign({State{}, State{0, 0, 0, 15}});
  table_.assign(256, 0);
}

void History::grow() {
  std::vector<u32> old(table_.size() * 2, 0);
  old.swap(table_);
  for (const u32 id : old) {
    if (!id) continue;
    const State& s = states_[id];
    u64 h = mix(s.valid, s.writes);
    for (u32 k = 0; k < u32(s.writes) + s.reads; ++k) h = hash(h, pool_[s.first + k]);
    std::size_t at = h & (table_.size() - 1);
    while (table_[at]) at = (at + 1) & (table_.size() - 1);
    table_[at] = id;
  }
}

u32 History::intern(const std::vector<Access>& writes, const std::vector<Access>& reads, u8 valid) {
  if (writes.empty() && reads.empty() && (valid == 0 || valid == 15)) return valid ? written : fresh;
  u64 h = mix(valid, writes.size());
  for (const auto* list : {&writes, &reads})
    for (const Access& a : *list) h = hash(h, a);
  std::size_t at = h & (table_.size() - 1);
  for (; table_[at]; at = (at + 1) & (table_.size() - 1)) {
    const State& s = states_[table_[at]];
    if (s.valid == valid && s.writes == writes.size() && s.reads == reads.size() &&
        std::equal(writes.begin(), writes.end(), pool_.begin() + s.first) &&
        std::equal(reads.begin(), reads.end(), pool_.begin() + s.first + s.writes))
      return table_[at];
  }
  const u32 id = static_cast<u32>(states_.size());
  states_.push_back({static_cast<u32>(pool_.size()), static_cast<u16>(writes.size()), static_cast<u16>(reads.size()), valid});
  pool_.insert(pool_.end(), writes.begin(), writes.end());
  pool_.insert(pool_.end(), reads.begin(), reads.end());
  table_[at] = id;
  if (states_.size() * 2 > table_.size()) grow();
  return id;
}

History::Outcome History::next(u32 state, const Access& access, Kind kind, const Order& order) {
  Access me = access;
  me.strong = kind != Kind::read && kind != Kind::write;
  const State s = states_[state];
  const Access* first = pool_.data() + s.first;
  const bool writes = kind != Kind::read && kind != Kind::strong_read;
  Outcome out;
  for (u32 k = 0; k < u32(s.writes) + (writes ? s.reads : 0u); ++k) {
    const Access& a = first[k];
    if ((a.bytes & me.bytes) == 0 || (a.strong && me.strong) || order.before(a)) continue;
    out.verdict = Verdict::race, out.other = a, out.other_wrote = k < s.writes;
    return out;
  }
  if (kind != Kind::write && kind != Kind::strong_write && (me.bytes & ~s.valid) != 0) {
    out.verdict = Verdict::unwritten;
    return out;
  }
  writes_.assign(first, first + s.writes);
  reads_.assign(first + s.writes, first + s.writes + s.reads);
  if (writes) place(writes_, me, order, true);
  place(reads_, me, order, !writes);
  out.state = intern(writes_, reads_, static_cast<u8>(writes ? s.valid | me.bytes : s.valid));
  return out;
}

u32 History::with_valid(u32 state, u8 valid) {
  const State s = states_[state];
  writes_.assign(pool_.begin() + s.first, pool_.begin() + s.first + s.writes);
  reads_.assign(pool_.begin() + s.first + s.writes, pool_.begin() + s.first + s.writes + s.reads);
  return intern(writes_, reads_, valid);
}

void History::compact(const std::function<bool(const Access&)>& forgotten,
                      const std::function<void(const std::function<void(u32&)>&)>& each_use) {
  const std::vector<Access> pool = std::move(pool_);
  const std::vector<State> states = std::move(states_);
  clear();
  std::vector<u32> renamed(states.size(), many);
  each_use([&](u32& state) {
    u32& to = renamed[state];
    if (to == many) {
      const State& s = states[state];
      writes_.clear(), reads_.clear();
      for (u32 k = 0; k < u32(s.writes) + s.reads; ++k)
        if (!forgotten(pool[s.first + k])) (k < s.writes ? writes_ : reads_).push_back(pool[s.first + k]);
      to = intern(writes_, reads_, s.valid);
    }
    state = to;
  });
}

}  // namespace softgpu
