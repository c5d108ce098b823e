#include "machine/shared.hpp"

#include <bit>
#include <cstring>

#include "machine/block.hpp"

namespace softgpu {

namespace {
constexpr u32 on_its_way = ~0u - 1;  // a state no history has: a cp.async fills the word
}

void SharedMemory::begin(u32 bytes) {
  bytes_.assign(bytes, 0xff);
  words_.assign((bytes + 3) / 4, {});
  history_.clear();
}

// Races between lanes of a warp. Two lanes may write the same value.
void SharedMemory::lanes(Warp& w, SharedWord& s, u32 word, u8 bytes, int lane, Kind kind, const void* value, u32 address) {
  const auto fault = [&](u8 other, const char* did) {
    const std::string who = other == several ? "other lanes" : "lane " + std::to_string(other);
    w.block->fault(w, lane, Error::launch_failed,
                   "race in shared memory inside of a warp: " + who + " " + did +
                       " this word and no bar.warp.sync lies between, address " + std::to_string(address));
  };
  if (kind == Kind::write && s.write_epoch != w.moment) s.write_lane[0] = s.write_lane[1] = nobody;
  if (kind == Kind::read && s.read_epoch != w.moment) s.read_lane[0] = s.read_lane[1] = nobody;
  const auto other = [&](u32 epoch, u8 who) { return epoch == w.moment && who != nobody && who != lane; };
  for (int half = 0; half < 2; ++half) {
    const int part = bytes >> 2 * half & 3;
    if (part == 0) continue;
    const bool written =
        part == 3 && other(s.write_epoch, s.write_lane[half]);  // single bytes are not told apart, and not judged
    if (kind == Kind::read) {
      if (written) fault(s.write_lane[half], "wrote");
      s.read_lane[half] = other(w.moment, s.read_lane[half]) ? several : static_cast<u8>(lane);
    } else {
      const u32 at = 4 * word + 2 * half;
      if (written && value && std::memcmp(&bytes_[at], static_cast<const u8*>(value) + (at - address), 2) != 0)
        fault(s.write_lane[half], "wrote");
      if (part == 3 && other(s.read_epoch, s.read_lane[half])) fault(s.read_lane[half], "read");
      s.write_lane[half] = static_cast<u8>(lane);
    }
  }
  (kind == Kind::read ? s.read_epoch : s.write_epoch) = w.moment;
}

// Nearly every access is of whole words whose next state is known, and that no lane of the warp touched since it was last synchronised in a way that could
// race with this one: `lanes` then would find nothing, and is not called.
inline __attribute__((always_inline)) void SharedMemory::check(Warp& w, u32 address, u32 size, int lane, Kind kind,
                                                               const void* value) {
  Block& b = *w.block;
  if (address & (size - 1))
    b.fault(w, lane, Error::illegal_address,
            "misaligned access to shared memory, address " + std::to_string(address) + ", " + std::to_string(size) + " bytes");
  if (u64(address) + size > bytes_.size())
    b.fault(w, lane, Error::illegal_address,
            "access outside of shared memory, address " + std::to_string(address) + " of " + std::to_string(bytes_.size()));
  if (!b.checks) return;
  const u8 bytes = size >= 4 ? 15 : static_cast<u8>(((1 << size) - 1) << (address % 4));
  const bool plain = kind == Kind::read || kind == Kind::write;
  for (u32 k = address / 4; k <= (address + size - 1) / 4; ++k) {
    SharedWord& s = words_[k];
    const u32* known = bytes == 15 ? w.steps.find(s.state, kind) : nullptr;
    if (known) {
      s.state = *known;
      if (kind == Kind::read && s.write_epoch != w.moment) {
        const bool first = s.read_epoch != w.moment;
        for (u8& who : s.read_lane) who = first || who == lane || who == nobody ? static_cast<u8>(lane) : several;
        s.read_epoch = w.moment;
        continue;
      }
      if (kind == Kind::write && s.write_epoch != w.moment && s.read_epoch != w.moment) {
        s.write_lane[0] = s.write_lane[1] = static_cast<u8>(lane);
        s.write_epoch = w.moment;
        continue;
      }
    } else {
      if (s.state == on_its_way)
        b.fault(w, lane, Error::launch_failed,
                std::string(kind == Kind::read || kind == Kind::strong_read ? "read of" : "write to") +
                    " shared memory that a cp.async may still be filling, address " + std::to_string(address));
      const History::Outcome o = history_.next(s.state, {w.index, w.step, 0, 0, bytes, false}, kind, w);
      if (o.verdict == History::Verdict::race)
        b.fault(w, lane, Error::launch_failed,
                "race in shared memory: warp " + std::to_string(o.other.actor) + (o.other_wrote ? " wrote" : " read") +
                    " this word and no barrier lies between, address " + std::to_string(address));
      if (o.verdict == History::Verdict::unwritten)
        b.fault(w, lane, Error::launch_failed, "read of shared memory never written, address " + std::to_string(address));
      if (bytes == 15) w.steps.keep(s.state, kind, o.state);
      s.state = o.state;
    }
    if (plain) lanes(w, s, k, bytes, lane, kind, value, address);
  }
}

void SharedMemory::access(Warp& w, u32 address, u32 size, int lane, Kind kind, const void* value) {
  check(w, address, size, lane, kind, value);
}

void SharedMemory::read(Warp& w, const u64* addresses, u32 size, u32 mask) {
  u64 before = ~u64(0), last = ~u64(0);
  for (u32 m = mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    if (addresses[l] == last && last == before) continue;  // what a third lane would leave behind two have left
    before = last, last = addresses[l];
    if (addresses[l] > ~0u)
      w.block->fault(w, l, Error::illegal_address, "access outside of shared memory, address " + std::to_string(addresses[l]));
    check(w, static_cast<u32>(addresses[l]), size, l, Kind::read, nullptr);
  }
}

void SharedMemory::start_copy(Warp& w, u32 to, u32 size, int lane) {
  access(w, to, size, lane, Kind::write);
  std::memset(&bytes_[to], 0xff, size);  // whoever reads before the wait, with checks off, gets NaN
  if (w.block->checks)
    for (u32 k = to / 4; k < (to + size) / 4; ++k) words_[k].state = on_its_way;
}

void SharedMemory::end_copy(Warp& w, u32 to, u32 size, int lane) {
  if (!w.block->checks) return;
  for (u32 k = to / 4; k < (to + size) / 4; ++k) {
    words_[k].state = history_.next(History::fresh, {w.index, w.step, 0, 0, 15, false}, Kind::write, w).state;
    words_[k].write_epoch = w.moment;
    words_[k].write_lane[0] = words_[k].write_lane[1] = static_cast<u8>(lane);
  }
}

}  // namespace softgpu
