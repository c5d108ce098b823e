// Queues, clocks, and what runs next.
#include <chrono>
#include <cstring>
#include <thread>

#include "driver/machine.hpp"

namespace softgpu {

Step Machine::next_step(Stream& s, const std::string& name) {
  s.clock.join(host);
  if (s.blocking || !s.context->streams.count(&s)) {  // the legacy stream and the blocking ones wait for each other
    Stream* legacy = s.context->legacy.get();
    if (legacy == &s) {
      for (Stream* other : s.context->streams)
        if (other->blocking) s.clock.join(other->clock);
    } else if (legacy) {
      s.clock.join(legacy->clock);
    }
  }
  s.clock.set(s.actor, ++s.steps);
  Step step;
  step.actor = s.actor, step.number = s.steps, step.clock = s.clock, step.name = name;
  keep_step_name(s.actor, s.steps, name);
  return step;
}

void Machine::push(Lock& lock, Stream& s, const std::string& name, u32 devices, bool kernel,
                   std::function<void(const Step&)> run) {
  if (s.context->broken != Error::none) throw Fault(s.context->broken, "");
  Operation o;
  o.step = next_step(s, name), o.run = std::move(run), o.devices = devices | 1u << s.context->device, o.kernel = kernel;
  if (&s == s.context->legacy.get()) {  // runs behind what blocking streams hold, and before what they will get
    for (Stream* other : std::set<Stream*>(s.context->streams))
      if (other->blocking) drain(lock, *s.context, [&] { return idle(*other); });
    s.queue.push_back(std::move(o));
    drain(lock, *s.context, [&] { return idle(s); });
    return;
  }
  s.queue.push_back(std::move(o));
}

void Machine::copy_to_host(Lock& lock, Stream& s, void* to, u64 from, u64 bytes) {
  if (bytes == 0) return;
  std::memset(to, 0xff, bytes);  // who looks before the wait sees NaN
  auto data = std::make_shared<std::vector<u8>>(bytes, u8(0xff));
  push(lock, s, "a copy to the host", Memory::bit_of(from), false,
       [=, this](const Step& step) { memory.read(data->data(), from, bytes, step); });
  deliveries_.push_back({to, bytes, s.actor, s.steps, data});
}

void Machine::copy_from_host(Lock& lock, Stream& s, u64 to, const void* from, u64 bytes) {
  if (bytes == 0) return;
  auto data = std::make_shared<std::vector<u8>>(static_cast<const u8*>(from), static_cast<const u8*>(from) + bytes);
  const bool pinned = memory.is_mapped(from, bytes);  // else the driver has its own copy before it returns
  push(lock, s, "a copy from the host", Memory::bit_of(to), false,
       [=, this](const Step& step) { memory.write(to, data->data(), bytes, step); });
  if (pinned) sources_.push_back({from, s.actor, s.steps, *data, s.context});
}

void Machine::record(Lock&, Event& e, Stream& s) {
  Operation o;
  o.what = Operation::What::record;
  o.step = next_step(s, "an event");
  o.event = e.state, o.version = ++e.state->recorded;
  e.state->clock = s.clock;
  s.queue.push_back(std::move(o));
  run_markers();
}

void Machine::wait_event(Lock&, Stream& s, Event& e) {
  Operation o;
  o.what = Operation::What::wait;
  o.event = e.state, o.version = e.state->recorded;
  s.clock.join(e.state->clock);
  o.step = next_step(s, "a wait");
  s.queue.push_back(std::move(o));
  run_markers();
}

// Records and waits at the head of a queue take no time.
void Machine::run_markers() {
  for (bool again = true; again;) {
    again = false;
    for (Stream* s : streams_)
      while (!s->running && !s->queue.empty() && s->queue.front().what != Operation::What::work) {
        Operation& o = s->queue.front();
        if (o.what == Operation::What::wait && o.event->done < o.version && s->context->broken == Error::none) break;
        if (o.what == Operation::What::record) o.event->done = std::max(o.event->done, o.version), o.event->time = time_;
        s->queue.pop_front();
        again = true;
      }
  }
}

bool Machine::ready(const Stream& s) const {
  return !s.running && !s.queue.empty() && s.queue.front().what == Operation::What::work && !(s.queue.front().devices & busy_);
}

// One operation for each device that has none, side by side. Returns when all of them are done.
bool Machine::run_round(Lock& lock) {
  run_markers();
  struct Task {
    Stream* stream;
    Operation operation;
    double seconds = 0;
    std::unique_ptr<Fault> fault;
  };
  std::vector<Task> tasks;
  u32 mine = 0;
  for (;;) {
    std::vector<Stream*> candidates;
    for (Stream* s : streams_)
      if (ready(*s)) candidates.push_back(s);
    if (candidates.empty()) break;
    std::sort(candidates.begin(), candidates.end(), [](Stream* a, Stream* b) { return a->actor < b->actor; });
    // the eager stream runs as far as it can, the lazy one as late as it can; now and then they change
    if (random_() % 16 == 0) candidates[random_() % candidates.size()]->priority = random_();
    Stream* s =
        *std::max_element(candidates.begin(), candidates.end(), [](Stream* a, Stream* b) { return a->priority < b->priority; });
    s->running = true;
    tasks.push_back({s, std::move(s->queue.front()), 0, nullptr});
    s->queue.pop_front();
    mine |= tasks.back().operation.devices, busy_ |= tasks.back().operation.devices;
  }
  if (tasks.empty()) return false;
  for (const Task& t : tasks) running_.push_back(&t.operation);
  const auto run = [](Task& t) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (t.stream->context->broken == Error::none) t.operation.run(t.operation.step);
    } catch (const Fault& f) {
      t.fault = std::make_unique<Fault>(f);
    } catch (const std::exception& e) {
      t.fault = std::make_unique<Fault>(Error::unknown, e.what());
    }
    t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  lock.unlock();
  std::vector<std::thread> threads;
  for (std::size_t k = 1; k < tasks.size(); ++k)
    if (tasks[k].operation.kernel) threads.emplace_back([&, k] { run(tasks[k]); });
    else run(tasks[k]);
  run(tasks[0]);
  for (std::thread& t : threads) t.join();
  lock.lock();
  double longest = 0;
  for (Task& t : tasks) {
    std::erase(running_, &t.operation);
    longest = std::max(longest, t.seconds);
    t.stream->running = false;
    if (t.fault) break_context(*t.stream->context, *t.fault);
  }
  time_ += longest;
  busy_ &= ~mine;
  for (int d = 0; d < memory.devices(); ++d)
    if (mine >> d & 1) tidy(d);
  run_markers();
  changed_.notify_all();
  return true;
}

// Everything to come joins the host's clock, so what lies before it and before all that is queued can race with nothing any more.
void Machine::tidy(int device) {
  if (memory.device(device).history.size() < 1 << 17) return;
  std::vector<const Clock*> clocks{&host};
  for (const Stream* s : streams_)
    for (const Operation& o : s->queue) clocks.push_back(&o.step.clock);
  for (const Operation* o : running_) clocks.push_back(&o->step.clock);
  Clock floor;
  for (u32 a = 0; a < actors_; ++a) {
    u32 least = ~0u;
    for (const Clock* c : clocks) least = std::min(least, c->of(a));
    floor.set(a, least);
  }
  memory.compact(device, floor);
}

template <class F>
Error Machine::drain(Lock& lock, Context& c, F enough) {
  run_markers();
  while (!enough()) {
    if (c.broken != Error::none) {  // what is left of its streams will not run
      for (Stream* s : streams_)
        if (s->context == &c) std::erase_if(s->queue, [](const Operation& o) { return o.what == Operation::What::work; });
      run_markers();
      if (enough()) break;
    }
    if (run_round(lock)) continue;
    if (enough()) break;
    if (busy_ == 0) {
      const bool waiting = std::any_of(streams_.begin(), streams_.end(), [](const Stream* s) { return !s->queue.empty(); });
      break_context(c, Fault(Error::launch_failed,
                             waiting ? "every stream waits for an event that will not come" : "nothing is left to wait for"));
      return c.broken;
    }
    changed_.wait(lock);
  }
  return c.broken;
}

Error Machine::synchronize(Lock& lock, Stream& s) {
  const Clock then = s.clock;
  const u32 last = s.steps;
  const Error e = drain(lock, *s.context, [&] { return !s.running && (s.queue.empty() || s.queue.front().step.number > last); });
  if (e == Error::none) join_host(then);
  return s.context->broken;
}

Error Machine::synchronize(Lock& lock, Event& e) {
  const std::shared_ptr<EventState> state = e.state;
  const u64 version = state->recorded;
  const Clock then = state->clock;
  const Error r = drain(lock, *e.context, [&] { return state->done >= version; });
  if (r == Error::none) join_host(then);
  return e.context->broken;
}

Error Machine::synchronize(Lock& lock, Context& c) {
  Clock then;
  for (const Stream* s : streams_)
    if (s->context == &c) then.join(s->clock);
  const Error e = drain(lock, c, [&] { return !under_way(c); });
  if (e == Error::none) join_host(then);
  return c.broken;
}

void Machine::advance(Lock& lock) { run_round(lock); }

void Machine::finish(Lock& lock, Stream& s) {
  drain(lock, *s.context, [&] { return idle(s); });
}

void Machine::quiet(Lock& lock, u32 devices) {
  while (busy_ & devices) changed_.wait(lock);
}

void Machine::join_host(const Clock& clock) {
  host.join(clock);
  std::erase_if(sources_, [&](const Source& s) {
    if (host.of(s.actor) < s.step) return false;
    if (std::memcmp(s.from, s.before.data(), s.before.size()) != 0)
      break_context(*s.context,
                    Fault(Error::launch_failed,
                          "race with the host: pinned memory was changed while a copy to the device might still read it"));
    return true;
  });
  std::erase_if(deliveries_, [&](const Delivery& d) {
    if (host.of(d.actor) < d.step) return false;
    std::memcpy(d.to, d.data->data(), d.bytes);
    return true;
  });
}

void Machine::check_unused(const void* p, u64 bytes) const {
  const u8* begin = static_cast<const u8*>(p);
  const auto overlaps = [&](const void* q, u64 n) {
    return static_cast<const u8*>(q) < begin + bytes && begin < static_cast<const u8*>(q) + n;
  };
  for (const Delivery& d : deliveries_)
    if (overlaps(d.to, d.bytes)) throw Fault(Error::launch_failed, "host memory is freed while a copy to it may be under way");
  for (const Source& s : sources_)
    if (overlaps(s.from, s.before.size()))
      throw Fault(Error::launch_failed, "host memory is freed while a copy from it may be under way");
}

}  // namespace softgpu
