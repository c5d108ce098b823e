// Global memory as a block sees it: checks of every access, order between blocks, cp.async, counters of banks and sectors.
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/block.hpp"

namespace softgpu {

bool Block::before(const Access& earlier) const {
  const Step& s = *launch.step;
  if (earlier.actor != s.actor || earlier.epoch != s.number) return s.before(earlier);
  if (earlier.part == number) return true;
  if (earlier.part == many)  // then everybody must have published
    return acquired.size() + 1 >= u64(launch.grid[0]) * launch.grid[1] * launch.grid[2] &&
           std::all_of(acquired.begin(), acquired.end(), [&](const auto& a) { return a.second >= earlier.phase; });
  const auto it = acquired.find(earlier.part);
  return it != acquired.end() && it->second >= earlier.phase;
}

u8* Block::global(Warp& w, u64 address, u32 size, int lane, Kind kind) {
  const char* what = kind == Kind::read || kind == Kind::strong_read ? "read" : kind == Kind::update ? "atomic" : "write";
  if (address & (size - 1))
    fault(w, lane, Error::illegal_address,
          "misaligned " + std::string(what) + " of global memory, " + std::to_string(size) + " bytes");
  Allocation* a = recent_[0];
  if (!a || address - a->address >= a->bytes || address + size > a->address + a->bytes) {
    a = recent_[1];
    if (!a || address - a->address >= a->bytes || address + size > a->address + a->bytes) {
      try {
        a = &memory.at(address, size, what);
      } catch (const Fault& f) {
        fault(w, lane, f.code, f.what());
      }
      if (a->device >= 0 && a->device != launch.device && !(launch.peers >> a->device & 1))
        fault(w, lane, Error::illegal_address,
              std::string(what) + " of memory of device " + std::to_string(a->device) + ", to which peer access is not enabled");
      if (a->device >= 0) a->used_by(*launch.step);
    }
    recent_[1] = recent_[0], recent_[0] = a;
  }
  const u64 offset = address - a->address;
  if (kind == Kind::write) w.fenced = false;
  if (checks && a->states) {
    const bool own = a->device == launch.device;
    const u8 bytes = size >= 4 ? 15 : static_cast<u8>(((1 << size) - 1) << (offset % 4));
    for (u64 k = offset / 4; k <= (offset + size - 1) / 4; ++k) {
      u32& state = a->states[k];
      const u32* known = own && bytes == 15 ? steps_.find(state, kind) : nullptr;
      if (known) {
        state = *known;
        continue;
      }
      const Step& s = *launch.step;
      const History::Outcome o =
          memory.device(a->device).history.next(state, {s.actor, s.number, number, phase, bytes, false}, kind, *this);
      if (o.verdict == History::Verdict::race) {
        if (o.other.actor == s.actor && o.other.epoch == s.number)
          fault(w, lane, Error::launch_failed,
                "race in global memory between blocks: " +
                    (o.other.part == many ? "other blocks" : "block " + std::to_string(o.other.part)) + " of this launch " +
                    (o.other_wrote ? "wrote" : "read") + " this word");
        fault(w, lane, Error::launch_failed, describe_race(o.other, o.other_wrote, s));
      }
      if (o.verdict == History::Verdict::unwritten) fault(w, lane, Error::launch_failed, "read of global memory never written");
      if (own && bytes == 15) steps_.keep(state, kind, o.state);
      state = o.state;
    }
  }
  return a->data + offset;
}

void Block::order(Warp& w, u64 address, Kind kind, bool acquires, bool releases) {
  if (kind != Kind::strong_write && !launch.published.empty()) {
    if (const auto it = launch.published.find(address); it != launch.published.end())
      for (const auto& [block, at] : it->second)
        if (block != number) w.observed.emplace_back(block, at);
    if (acquires) fence(w), w.fenced = false;
  }
  if (kind != Kind::strong_read && (releases || w.fenced)) {
    auto& here = launch.published[address];
    here[number] = phase++;
    for (const auto& [block, at] : acquired) here[block] = std::max(here[block], at);
    steps_.forget();
  }
}

void Block::fence(Warp& w) {
  w.fenced = true;
  if (w.observed.empty()) return;
  for (const auto& [block, at] : w.observed) {
    const auto [it, fresh] = acquired.try_emplace(block, at);
    if (!fresh) it->second = std::max(it->second, at);
  }
  w.observed.clear();
  steps_.forget();
}

void Block::start_copy(Warp& w, const AsyncCopy& c) {
  if (c.to % c.size || u64(c.to) + c.size > shared.size())
    fault(w, c.lane, Error::illegal_address, "cp.async to a misaligned address, or outside of shared memory");
  if (c.from % c.size) fault(w, c.lane, Error::illegal_address, "cp.async from a misaligned address");
  if (c.real > c.size) fault(w, c.lane, Error::launch_failed, "cp.async of more bytes than it has room for");
  for (u32 k = 0; k < c.real; k += 4) global(w, c.from + k, std::min(4u, c.real - k), c.lane, Kind::read);
  shared.start_copy(w, c.to, c.size, c.lane);
  w.copies.push_back(c);
}

void Block::finish_copies(Warp& w, u32 mask, u32 leave) {
  std::erase_if(w.copies, [&](const AsyncCopy& c) {
    if (!(mask >> c.lane & 1) || c.group + leave >= w.groups[c.lane]) return false;
    u8* to = shared.data() + c.to;
    std::memset(to, 0, c.size);
    if (c.real == c.size) std::memcpy(to, global(w, c.from, c.real, c.lane, Kind::read), c.real);
    else
      for (u32 k = 0; k < c.real; ++k) to[k] = *global(w, c.from + k, 1, c.lane, Kind::read);
    shared.end_copy(w, c.to, c.size, c.lane);
    return true;
  });
}

void Block::count_banks(const u64* addresses, u32 mask, u32 size) {
  Counters::Line& c = launch.counters.lines[now - module.code.data()];
  const int lanes = size <= 4 ? 32 : size == 8 ? 16 : 8;  // served at once
  for (int first = 0; first < Lanes; first += lanes) {
    constexpr u8 last = 255;
    u32 words[64], used = 0, worst = 0;
    u64 previous = ~u64(0);
    u8 n = 0, next[64], head[32], length[32];  // each bank's different words are a list
    for (u32 m = lanes == Lanes ? mask : mask >> first & ((1u << lanes) - 1); m; m &= m - 1) {
      const u64 address = addresses[first + std::countr_zero(m)];
      if (address == previous) continue;
      previous = address;
      for (u32 b = 0; b < size; b += 4) {
        const u32 word = static_cast<u32>((address + b) / 4), bank = word % 32;
        if (!(used >> bank & 1)) {
          used |= 1u << bank, length[bank] = 0, head[bank] = last;
        } else {
          u8 k = head[bank];
          while (k != last && words[k] != word) k = next[k];
          if (k != last) continue;
        }
        words[n] = word, next[n] = head[bank], head[bank] = n++;
        worst = std::max<u32>(worst, ++length[bank]);
      }
    }
    c.wavefronts += worst;
    c.ideal_wavefronts += worst > 0;
  }
}

void Block::count_sectors(const u64* addresses, u32 mask, u32 size) {
  Counters::Line& c = launch.counters.lines[now - module.code.data()];
  u64 seen[64 + Lanes];
  int n = 0;
  u64 last = ~u64(0);
  for (u32 m = mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    for (u64 s = addresses[l] / 32; s <= (addresses[l] + size - 1) / 32; ++s) {
      if (s == last) continue;
      last = s;
      if (std::find(seen, seen + n, s) == seen + n && n < 64 + Lanes) seen[n++] = s;
    }
  }
  c.sectors += n;
  c.ideal_sectors += (std::popcount(mask) * size + 31) / 32;
}

}  // namespace softgpu
