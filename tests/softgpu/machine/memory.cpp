#include "machine/memory.hpp"

#include <cstring>

namespace softgpu {

namespace {

struct StepNames {
  std::mutex mutex;
  std::map<std::pair<u32, u32>, std::string> names;
};
StepNames& step_names() {
  static StepNames* names = new StepNames;
  return *names;
}

u8 bytes_of_word(u64 word, u64 begin, u64 end) {  // which bytes of a word lie in [begin, end)
  u8 mask = 0;
  for (int b = 0; b < 4; ++b) mask = static_cast<u8>(mask | (4 * word + b >= begin && 4 * word + b < end) << b);
  return mask;
}

}  // namespace

void keep_step_name(u32 actor, u32 number, const std::string& name) {
  const std::lock_guard lock(step_names().mutex);
  if (step_names().names.size() > 1 << 16) step_names().names.clear();
  step_names().names[{actor, number}] = name;
}
std::string name_of_step(u32 actor, u32 number) {
  const std::lock_guard lock(step_names().mutex);
  const auto it = step_names().names.find({actor, number});
  return it == step_names().names.end() ? "an operation" : it->second;
}
void forget_step_names() {
  const std::lock_guard lock(step_names().mutex);
  step_names().names.clear();
}

std::string describe_race(const Access& other, bool other_wrote, const Step& step) {
  return "race between streams: " + step.name + " and " + name_of_step(other.actor, other.epoch) + " of stream " +
         std::to_string(other.actor) + ", which " + (other_wrote ? "writes" : "reads") +
         " the same memory: no event, wait or stream order lies between";
}

void Allocation::used_by(const Step& step) {
  if (!users.empty() && users.back().first == step.actor) {
    users.back().second = std::max(users.back().second, step.number);
    return;
  }
  for (auto& u : users)
    if (u.first == step.actor) {
      u.second = std::max(u.second, step.number);
      std::swap(u, users.back());
      return;
    }
  users.emplace_back(step.actor, step.number);
}

void Memory::reset(int devices, bool watched) {
  watched_ = watched;
  devices_ = std::vector<DeviceMemory>(devices);
  for (int d = 0; d < devices; ++d) devices_[d].ordinal = d, devices_[d].next = (u64(d) + 1) << 48 | 1 << 20;
}

u64 Memory::allocate(int device, u64 bytes, u32 align, bool of_module) {
  DeviceMemory& m = devices_[device];
  const u64 step = std::max<u64>(align, 256);
  Allocation a;
  a.address = m.next = (m.next + step - 1) / step * step;
  a.bytes = bytes, a.device = device, a.of_module = of_module;
  m.next += bytes + 65536;
  const u64 words = (bytes + 3) / 4;
  a.own.reset(new u8[words * 4]);
  a.data = a.own.get();
  std::memset(a.data, 0xff, words * 4);
  if (watched_) a.states = std::make_unique<u32[]>(words);
  m.in_use += bytes, m.peak = std::max(m.peak, m.in_use);
  const u64 address = a.address;
  m.allocations.emplace(address, std::move(a));
  return address;
}

Allocation Memory::take(u64 address) {
  const int d = device_of(address);
  if (d < 0 || d >= devices()) throw Fault(Error::invalid_value, "free of an address of no device");
  DeviceMemory& m = devices_[d];
  const auto it = m.allocations.find(address);
  if (it == m.allocations.end() || it->second.of_module)
    throw Fault(Error::invalid_value,
                m.freed.count(address) ? "memory is freed twice" : "free of an address that was not allocated");
  Allocation a = std::move(it->second);
  m.in_use -= a.bytes;
  m.freed[a.address] = a.bytes;
  m.allocations.erase(it);
  return a;
}

void Memory::map_host(void* p, u64 bytes) {
  const std::lock_guard lock(host_mutex_);
  Allocation a;
  a.address = reinterpret_cast<u64>(p), a.bytes = bytes, a.data = static_cast<u8*>(p);
  host_.emplace(a.address, std::move(a));
}
void Memory::unmap_host(void* p) {
  const std::lock_guard lock(host_mutex_);
  host_.erase(reinterpret_cast<u64>(p));
}
bool Memory::is_mapped(const void* p, u64 bytes) {
  const std::lock_guard lock(host_mutex_);
  const u64 address = reinterpret_cast<u64>(p);
  auto it = host_.upper_bound(address);
  return it != host_.begin() && (--it, address + bytes <= it->second.address + it->second.bytes);
}

Allocation& Memory::at(u64 address, u64 bytes, const char* what) {
  const auto outside = [&](const std::string& text) {
    return Fault(Error::illegal_address, std::string(what) + " of " + std::to_string(bytes) + " bytes " + text);
  };
  const int d = device_of(address);
  if (d == -1) {
    const std::lock_guard lock(host_mutex_);
    auto it = host_.upper_bound(address);
    if (it != host_.begin() && (--it, address + bytes <= it->second.address + it->second.bytes)) return it->second;
    throw outside(address < 1 << 20 ? "at an address near zero" : "in host memory that devices do not see");
  }
  if (d < 0 || d >= devices()) throw outside("outside of every device");
  DeviceMemory& m = devices_[d];
  auto it = m.allocations.upper_bound(address);
  if (it != m.allocations.begin()) {
    Allocation& a = (--it)->second;
    if (address + bytes <= a.address + a.bytes) return a;
    if (address < a.address + a.bytes + 32768)
      throw outside("reaches " + std::to_string(address + bytes - a.address - a.bytes) + " bytes past an allocation of " +
                    std::to_string(a.bytes));
  }
  if (auto f = m.freed.upper_bound(address); f != m.freed.begin() && (--f, address < f->first + f->second))
    throw outside("in memory that was freed");
  throw outside("outside of every allocation of device " + std::to_string(d));
}

void Memory::step_words(Allocation& a, u64 address, u64 bytes, Kind kind, const Step& step, const char* what) {
  if (a.device < 0 || bytes == 0) return;
  a.used_by(step);
  if (!a.states) return;
  History& h = devices_[a.device].history;
  const u64 begin = address - a.address, end = begin + bytes;
  Access me = step.access();
  u32 from = many, to = 0;
  for (u64 w = begin / 4; w < (end + 3) / 4; ++w) {
    u32& state = a.states[w];
    const bool whole = 4 * w >= begin && 4 * w + 4 <= end;
    if (whole && state == from) {
      state = to;
      continue;
    }
    me.bytes = whole ? 15 : bytes_of_word(w, begin, end);
    const History::Outcome o = h.next(state, me, kind, step);
    if (o.verdict == History::Verdict::race) throw Fault(Error::launch_failed, describe_race(o.other, o.other_wrote, step));
    if (o.verdict == History::Verdict::unwritten)
      throw Fault(Error::launch_failed, std::string(what) + " of memory never written, byte " + std::to_string(4 * w) +
                                            " of an allocation of " + std::to_string(a.bytes));
    if (whole) from = state, to = o.state;
    state = o.state;
  }
}

void Memory::write(u64 to, const void* from, u64 bytes, const Step& step) {
  Allocation& a = at(to, bytes, "copy to the device");
  step_words(a, to, bytes, Kind::write, step, "write");
  std::memcpy(a.data + (to - a.address), from, bytes);
}

void Memory::read(void* to, u64 from, u64 bytes, const Step& step) {
  Allocation& a = at(from, bytes, "copy from the device");
  step_words(a, from, bytes, Kind::read, step, "copy from the device");
  std::memcpy(to, a.data + (from - a.address), bytes);
}

void Memory::copy(u64 to, u64 from, u64 bytes, const Step& step) {
  Allocation &a = at(from, bytes, "copy"), &b = at(to, bytes, "copy to the device");
  // reading what was never written is no error here: the copy is as little written. So races alone are asked for, word by word
  const u64 begin = from - a.address;
  History& ha = devices_[std::max(a.device, 0)].history;
  std::vector<u8> valid(bytes, 1);
  if (a.device >= 0) a.used_by(step);
  if (a.states) {
    Access me = step.access();
    for (u64 w = begin / 4; w < (begin + bytes + 3) / 4; ++w) {
      const u8 known = ha.valid(a.states[w]);
      me.bytes = bytes_of_word(w, begin, begin + bytes);
      const u32 asked = known == 15 ? a.states[w] : ha.with_valid(a.states[w], 15);
      const History::Outcome o = ha.next(asked, me, Kind::read, step);
      if (o.verdict == History::Verdict::race) throw Fault(Error::launch_failed, describe_race(o.other, o.other_wrote, step));
      a.states[w] = known == 15 ? o.state : ha.with_valid(o.state, known);
      if (known != 15)
        for (int k = 0; k < 4; ++k)
          if (4 * w + k >= begin && 4 * w + k < begin + bytes && !(known >> k & 1)) valid[4 * w + k - begin] = 0;
    }
  }
  step_words(b, to, bytes, Kind::write, step, "write");
  std::memmove(b.data + (to - b.address), a.data + begin, bytes);
  if (b.states && std::memchr(valid.data(), 0, bytes)) {
    History& hb = devices_[b.device].history;
    const u64 first = to - b.address;
    for (u64 k = 0; k < bytes; ++k)
      if (!valid[k]) {
        u32& s = b.states[(first + k) / 4];
        s = hb.with_valid(s, static_cast<u8>(hb.valid(s) & ~(1 << (first + k) % 4)));
      }
  }
}

void Memory::fill(u64 to, u32 value, int width, u64 count, const Step& step) {
  Allocation& a = at(to, count * width, "memset");
  step_words(a, to, count * width, Kind::write, step, "memset");
  for (u64 i = 0; i < count; ++i) std::memcpy(a.data + (to - a.address) + i * width, &value, width);
}

void Memory::give_values(u64 to, const void* from, u64 bytes) {
  Allocation& a = at(to, bytes, "initial values");
  std::memcpy(a.data + (to - a.address), from, bytes);
  if (a.states) std::fill_n(a.states.get(), (a.bytes + 3) / 4, History::written);
}

void Memory::compact(int device, const Clock& floor) {
  DeviceMemory& m = devices_[device];
  m.history.compact([&](const Access& a) { return floor.of(a.actor) >= a.epoch; },
                    [&](const std::function<void(u32&)>& use) {
                      for (auto& [address, a] : m.allocations)
                        for (u64 w = 0; a.states && w < (a.bytes + 3) / 4; ++w) use(a.states[w]);
                    });
}

}  // namespace softgpu
