// The state behind the driver: contexts, streams, events, modules, and who runs what when.
//
// Streams are queues. Nothing runs until somebody waits or asks; then devices run side by side on threads of their own, one operation a device
// at a time, and among the streams of a device the next one is drawn by lot from the seed. Whether operations are ordered does not depend on that:
// clocks (machine/clock.hpp) are kept when operations are queued. Copies to the host are delivered when the host has waited for them, not
// before: until then the destination holds 0xff.
// All members are protected by `mutex` but where a comment says otherwise.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <set>

#include "machine/block.hpp"

namespace softgpu {

struct Environment {
  int devices = 1, sm = 80, driver_version = 13000, init = 0;
  u64 memory = u64(1) << 30, seed = 1, limit = u64(1) << 36;
  u64 fail = 0;       // number of the call that fails
  int fail_code = 0;  // 0: one that suits the call
  u64 ignore = 0;     // number of the call of `ignored` that is not done and says it was; 0: all from `ignored_place`
  int multiprocessors = 4;
  bool checks = true, peers = true;
  std::string counters, coverage, replace, ignored, ignored_place, places;
  static Environment read();
};

struct Stream;
struct Context {
  int device = 0, references = 0;
  Error broken = Error::none;
  u32 peers = 0;
  std::unique_ptr<Stream> legacy;  // stream 0
  std::set<Stream*> streams;
  std::set<struct Event*> events;
  std::set<struct ModuleHandle*> modules;
  std::map<void*, u64> pinned;
};

struct EventState {
  u64 recorded = 0, done = 0;
  Clock clock;
  double time = 0;
};
struct Event {
  Context* context = nullptr;
  bool timing = true;
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

struct Operation {
  enum class What : u8 { work, record, wait } what = What::work;
  std::function<void(const Step&)> run;
  Step step;
  u32 devices = 0;      // it touches, a bit each
  bool kernel = false;  // worth a thread
  std::shared_ptr<EventState> event;
  u64 version = 0;
};
struct Stream {
  Context* context = nullptr;
  u32 actor = 0, steps = 0;
  Clock clock;
  bool blocking = true, running = false;
  std::deque<Operation> queue;
  u64 priority = 0;
};

struct FunctionHandle {
  struct ModuleHandle* module = nullptr;
  const Function* kernel = nullptr;
  int dynamic_limit = 48 * 1024;
};
struct ModuleHandle {
  Context* context = nullptr;
  std::shared_ptr<LoadedModule> loaded;
  std::map<std::string, std::unique_ptr<FunctionHandle>> functions;
};

using Lock = std::unique_lock<std::mutex>;

class Machine {
 public:
  static Machine& get();
  void reset();  // as if the library had just been loaded: reads the environment again
  void write_files();
  bool left_out(const char* name);  // the call is to do nothing and to say that it did
  u64 pending() const;              // operations that are queued and not done

  std::mutex mutex;
  Environment environment;
  bool initialized = false;
  u64 calls = 0;
  std::vector<std::unique_ptr<Context>> contexts;
  Memory memory;
  Ledger ledger;
  Clock host;

  Stream* new_stream(Context& c, bool blocking);
  Stream& stream_of(Context& c, Stream* s);  // of any context; 0 is the legacy stream of this one

  // Queues work; `name` for messages. Copies to and from host memory go through the two below.
  void push(Lock& lock, Stream& s, const std::string& name, u32 devices, bool kernel, std::function<void(const Step&)> run);
  void copy_to_host(Lock& lock, Stream& s, void* to, u64 from, u64 bytes);
  void copy_from_host(Lock& lock, Stream& s, u64 to, const void* from, u64 bytes);
  void record(Lock& lock, Event& e, Stream& s);
  void wait_event(Lock& lock, Stream& s, Event& e);

  // The host waits. Each returns the context's error.
  Error synchronize(Lock& lock, Stream& s);
  Error synchronize(Lock& lock, Event& e);
  Error synchronize(Lock& lock, Context& c);
  bool idle(const Stream& s) const { return s.queue.empty() && !s.running; }
  void advance(Lock& lock);                              // run something, if anything can run
  void quiet(Lock& lock, u32 devices);                   // until none of them runs anything: their allocations may change then
  void finish(Lock& lock, Stream& s);                    // run what it holds; the host has waited for nothing by that
  void join_host(const Clock& clock);                    // the host knows of these steps now: deliver, and look at what was read
  void check_unused(const void* host, u64 bytes) const;  // no copy is under way; throws

  void end(Lock& lock, Context& c);  // of the last reference: looks for leaks, frees
  void destroy(Stream* s);
  std::shared_ptr<const Module> module_of(const std::string& text);
  void break_context(Context& c, const Fault& fault);
  bool under_way(Context& c) const;

 private:
  struct Delivery {
    void* to = nullptr;
    u64 bytes = 0;
    u32 actor = 0, step = 0;
    std::shared_ptr<std::vector<u8>> data;
  };
  struct Source {  // pinned memory that a copy reads
    const void* from = nullptr;
    u32 actor = 0, step = 0;
    std::vector<u8> before;
    Context* context = nullptr;
  };
  bool ready(const Stream& s) const;
  bool run_round(Lock& lock);  // false: nothing could run
  template <class F>
  Error drain(Lock& lock, Context& c, F enough);
  void run_markers();
  void tidy(int device);
  Step next_step(Stream& s, const std::string& name);

  std::condition_variable changed_;
  std::set<Stream*> streams_;
  u32 actors_ = 1, busy_ = 0;
  std::vector<std::pair<u32, u32>> spare_actors_;  // of streams that ended after the host had waited for them, and their steps
  std::vector<const Operation*> running_;
  std::mt19937_64 random_;
  double time_ = 0;
  std::vector<Delivery> deliveries_;
  std::vector<Source> sources_;
  std::set<std::string> places_;  // that calls came from
  bool said_ = false;             // that calls from a place are left out
  std::map<std::string, std::shared_ptr<const Module>> modules_;
};

u64 environment_number(const char* name, u64 otherwise);  // 12, 64K, 512M, 2G

}  // namespace softgpu
