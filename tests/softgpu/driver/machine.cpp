#include "driver/machine.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <tuple>

#include "ptx/reader.hpp"

namespace softgpu {

u64 environment_number(const char* name, u64 otherwise) {
  const char* v = std::getenv(name);
  if (!v || !*v) return otherwise;
  char* end = nullptr;
  const u64 n = std::strtoull(v, &end, 0);
  switch (*end) {
    case 'K': return n << 10;
    case 'M': return n << 20;
    case 'G': return n << 30;
    default: return n;
  }
}

Environment Environment::read() {
  Environment e;
  const auto text = [](const char* name) {
    const char* v = std::getenv(name);
    return std::string(v ? v : "");
  };
  e.devices = static_cast<int>(std::min<u64>(environment_number("FD_SOFTGPU_DEVICES", 1), 8));
  e.sm = static_cast<int>(environment_number("FD_SOFTGPU_SM", 80));
  e.driver_version = static_cast<int>(environment_number("FD_SOFTGPU_DRIVER_VERSION", 13000));
  e.init = static_cast<int>(environment_number("FD_SOFTGPU_INIT", 0));
  e.memory = environment_number("FD_SOFTGPU_MEMORY", e.memory);
  e.seed = environment_number("FD_SOFTGPU_SEED", 1);
  e.limit = environment_number("FD_SOFTGPU_LIMIT", e.limit);
  e.checks = environment_number("FD_SOFTGPU_CHECKS", 1) != 0;
  e.peers = environment_number("FD_SOFTGPU_PEERS", 1) != 0;
  e.counters = text("FD_SOFTGPU_COUNTERS"), e.coverage = text("FD_SOFTGPU_COVERAGE");
  e.multiprocessors = static_cast<int>(environment_number("FD_SOFTGPU_MULTIPROCESSORS", 4));
  e.replace = text("FD_SOFTGPU_REPLACE"), e.ignored = text("FD_SOFTGPU_IGNORE"), e.places = text("FD_SOFTGPU_PLACES");
  if (const auto cut = e.ignored.find_first_of(":@"); cut != std::string::npos) {  // name:n or name@place
    if (e.ignored[cut] == ':') e.ignore = std::strtoull(e.ignored.c_str() + cut + 1, nullptr, 10);
    else e.ignored_place = e.ignored.substr(cut + 1);
    e.ignored.resize(cut);
  }
  const std::string fail = text("FD_SOFTGPU_FAIL");  // n or n:code
  e.fail = std::strtoull(fail.c_str(), nullptr, 10);
  if (const auto colon = fail.find(':'); colon != std::string::npos) e.fail_code = std::atoi(fail.c_str() + colon + 1);
  return e;
}

namespace {
// Where the program called this library from: return addresses outside of it, innermost first, as offsets in their file.
std::string caller() {
  constexpr int most = 24, kept = 8;
  void* frames[most];
  const int count = backtrace(frames, most);
  Dl_info own, frame;
  if (dladdr(reinterpret_cast<void*>(&caller), &own) == 0) return "";
  std::ostringstream text;
  for (int k = 0, found = 0; k < count && found < kept; ++k) {
    if (dladdr(frames[k], &frame) == 0 || frame.dli_fbase == own.dli_fbase) continue;
    text << (found++ > 0 ? "," : "") << std::hex << static_cast<char*>(frames[k]) - static_cast<char*>(frame.dli_fbase);
  }
  return text.str();
}

__attribute__((destructor)) void at_exit() { Machine::get().write_files(); }
}  // namespace

Machine& Machine::get() {
  static Machine* m = [] {  // never destroyed: programs may call the driver while they end
    auto* made = new Machine;
    made->reset();
    return made;
  }();
  return *m;
}

void Machine::reset() {
  const Lock lock(mutex);
  environment = Environment::read();
  initialized = false;
  calls = 0;
  places_.clear(), said_ = false;
  streams_.clear(), deliveries_.clear(), spare_actors_.clear(), sources_.clear(), running_.clear();
  for (auto& c : contexts) {
    for (Stream* s : c->streams) delete s;
    for (Event* e : c->events) delete e;
    for (ModuleHandle* m : c->modules) delete m;
    for (auto& [p, bytes] : c->pinned) memory.unmap_host(p), std::free(p);
  }
  contexts.clear();
  memory.reset(environment.devices, environment.checks);
  ledger.clear();
  host = {};
  actors_ = 1, busy_ = 0, time_ = 0;
  random_.seed(environment.seed);
  forget_step_names();
  for (int d = 0; d < environment.devices; ++d) {
    contexts.push_back(std::make_unique<Context>());
    contexts.back()->device = d;
  }
}

bool Machine::left_out(const char* name) {
  const bool by_place = environment.ignored == name && !environment.ignored_place.empty();
  const std::string place = by_place || !environment.places.empty() ? caller() : "";
  if (!environment.places.empty()) places_.insert(std::string(name) + " " + place);
  const bool by_number = environment.ignored == name && environment.ignore != 0 && --environment.ignore == 0;
  if (!by_number && !(by_place && (place + ",").starts_with(environment.ignored_place + ","))) return false;
  if (!said_) report(std::string(name) + " left out on demand");
  said_ = true;
  return true;
}

u64 Machine::pending() const {
  u64 count = 0;
  for (const Stream* s : streams_) count += s->queue.size() + s->running;
  return count;
}

void Machine::write_files() {
  if (!environment.places.empty()) {
    std::ofstream file(environment.places, std::ios::app);
    for (const std::string& place : places_) file << place << "\n";
  }
  if (!environment.counters.empty()) ledger.write_counters(environment.counters);
  if (!environment.coverage.empty()) ledger.write_coverage(environment.coverage);
}

std::shared_ptr<const Module> Machine::module_of(const std::string& text) {
  auto& known = modules_[text];
  if (!known) known = read_module(text);
  return known;
}

Stream* Machine::new_stream(Context& c, bool blocking) {
  auto s = std::make_unique<Stream>();
  s->context = &c, s->blocking = blocking, s->priority = random_();
  if (spare_actors_.empty()) {
    s->actor = actors_++;
  } else {
    std::tie(s->actor, s->steps) = spare_actors_.back();
    spare_actors_.pop_back();
  }
  streams_.insert(s.get());
  return s.release();
}

Stream& Machine::stream_of(Context& c, Stream* s) {
  if (!s) {
    if (!c.legacy) c.legacy.reset(new_stream(c, true));
    return *c.legacy;
  }
  if (!streams_.count(s)) throw Fault(Error::invalid_handle, "a stream that does not exist");
  return *s;
}

void Machine::destroy(Stream* s) {
  streams_.erase(s);
  s->context->streams.erase(s);
  if (host.of(s->actor) >= s->steps) spare_actors_.emplace_back(s->actor, s->steps);
  delete s;
}

bool Machine::under_way(Context& c) const {
  for (const Stream* s : streams_)
    if (s->context == &c && !idle(*s)) return true;
  return false;
}

void Machine::break_context(Context& c, const Fault& fault) {
  report(fault.what());
  if (c.broken == Error::none) c.broken = fault.code;
}

void Machine::end(Lock& lock, Context& c) {
  while (std::any_of(streams_.begin(), streams_.end(), [&](Stream* s) { return s->context == &c && s->running; }))
    changed_.wait(lock);
  DeviceMemory& m = memory.device(c.device);
  if (c.broken == Error::none) {
    u64 allocations = 0, bytes = 0;
    for (const auto& [address, a] : m.allocations)
      if (!a.of_module) ++allocations, bytes += a.bytes;
    const auto some = [](u64 n, const char* what) { return std::to_string(n) + " " + what; };
    if (allocations || !c.streams.empty() || !c.events.empty() || !c.modules.empty() || !c.pinned.empty())
      report("leak: the context of device " + std::to_string(c.device) + " ends with " + some(allocations, "allocations (") +
             some(bytes, "bytes), ") + some(c.pinned.size(), "of pinned host memory, ") + some(c.streams.size(), "streams, ") +
             some(c.events.size(), "events, ") + some(c.modules.size(), "modules"));
    for (const Delivery& d : deliveries_)
      for (const Stream* s : streams_)
        if (s->context == &c && s->actor == d.actor)
          report("a copy to the host was never waited for: " + name_of_step(d.actor, d.step));
  }
  const auto of_context = [&](u32 actor) {
    return std::any_of(streams_.begin(), streams_.end(), [&](Stream* s) { return s->context == &c && s->actor == actor; });
  };
  std::erase_if(deliveries_, [&](const Delivery& d) { return of_context(d.actor); });
  std::erase_if(sources_, [&](const Source& s) { return of_context(s.actor); });
  for (Stream* s : std::set<Stream*>(c.streams)) destroy(s);
  if (c.legacy) streams_.erase(c.legacy.get()), c.legacy.reset();
  for (Event* e : c.events) delete e;
  for (ModuleHandle* h : c.modules) delete h;
  for (auto& [p, bytes] : c.pinned) memory.unmap_host(p), std::free(p);
  c.events.clear(), c.modules.clear(), c.pinned.clear();
  for (const auto& [address, a] : m.allocations) m.freed[address] = a.bytes;
  m.allocations.clear();
  m.in_use = 0;
  c.broken = Error::none, c.peers = 0;
}

}  // namespace softgpu
