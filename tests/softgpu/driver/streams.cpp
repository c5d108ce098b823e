// Streams and events.
#include "driver/api.hpp"

using namespace softgpu;

namespace {
Event& known(Machine& m, Event* e) {
  for (const auto& c : m.contexts)
    if (c->events.count(e)) return *e;
  throw Fault(Error::invalid_handle, "an event that does not exist");
}
}  // namespace

FD_EXPORT Result cuStreamCreate(Stream** s, unsigned flags) {
  return api("cuStreamCreate", Needs::context, [=](Machine& m, Lock&) {
    *s = m.new_stream(*current, (flags & 1) == 0);
    current->streams.insert(*s);
    return Error::none;
  });
}
FD_EXPORT Result cuStreamCreateWithPriority(Stream** s, unsigned flags, int) { return cuStreamCreate(s, flags); }
FD_EXPORT Result cuStreamDestroy_v2(Stream* s) {
  return api("cuStreamDestroy", Needs::broken_too, [=](Machine& m, Lock& lock) {
    if (!s) return Error::invalid_handle;
    m.finish(lock, m.stream_of(*current, s));
    m.destroy(s);
    return Error::none;
  });
}
FD_ALIAS(Result, cuStreamDestroy, cuStreamDestroy_v2, Stream*);
FD_EXPORT Result cuStreamSynchronize(Stream* s) {
  return api("cuStreamSynchronize", Needs::context,
             [=](Machine& m, Lock& lock) { return m.synchronize(lock, m.stream_of(*current, s)); });
}
FD_EXPORT Result cuStreamQuery(Stream* s) {
  return api("cuStreamQuery", Needs::context, [=](Machine& m, Lock& lock) {
    Stream& stream = m.stream_of(*current, s);
    if (!m.idle(stream)) {
      m.advance(lock);
      if (current->broken != Error::none) return current->broken;
      return m.idle(stream) ? m.synchronize(lock, stream) : Error::not_ready;
    }
    return m.synchronize(lock, stream);
  });
}
FD_EXPORT Result cuStreamWaitEvent(Stream* s, Event* e, unsigned) {
  return api("cuStreamWaitEvent", Needs::context, [=](Machine& m, Lock& lock) {
    m.wait_event(lock, m.stream_of(*current, s), known(m, e));
    return Error::none;
  });
}
FD_EXPORT Result cuLaunchHostFunc(Stream* s, void (*f)(void*), void* data) {
  return api("cuLaunchHostFunc", Needs::context, [=](Machine& m, Lock& lock) {
    m.push(lock, m.stream_of(*current, s), "a host function", 0, false, [=](const Step&) { f(data); });
    return Error::none;
  });
}

FD_EXPORT Result cuEventCreate(Event** e, unsigned flags) {
  return api("cuEventCreate", Needs::context, [=](Machine&, Lock&) {
    *e = new Event;
    (*e)->context = current, (*e)->timing = (flags & 2) == 0;
    current->events.insert(*e);
    return Error::none;
  });
}
FD_EXPORT Result cuEventDestroy_v2(Event* e) {
  return api("cuEventDestroy", Needs::broken_too, [=](Machine& m, Lock&) {
    known(m, e).context->events.erase(e);
    delete e;
    return Error::none;
  });
}
FD_ALIAS(Result, cuEventDestroy, cuEventDestroy_v2, Event*);
FD_EXPORT Result cuEventRecord(Event* e, Stream* s) {
  return api("cuEventRecord", Needs::context, [=](Machine& m, Lock& lock) {
    Stream& stream = m.stream_of(*current, s);
    if (known(m, e).context != stream.context)
      throw Fault(Error::invalid_handle, "event and stream belong to different contexts");
    m.record(lock, *e, stream);
    return Error::none;
  });
}
FD_EXPORT Result cuEventSynchronize(Event* e) {
  return api("cuEventSynchronize", Needs::context, [=](Machine& m, Lock& lock) { return m.synchronize(lock, known(m, e)); });
}
FD_EXPORT Result cuEventQuery(Event* e) {
  return api("cuEventQuery", Needs::context, [=](Machine& m, Lock& lock) {
    const auto state = known(m, e).state;
    if (state->done < state->recorded) m.advance(lock);
    if (current->broken != Error::none) return current->broken;
    if (state->done < state->recorded) return Error::not_ready;
    return m.synchronize(lock, known(m, e));
  });
}
FD_EXPORT Result cuEventElapsedTime(float* ms, Event* a, Event* b) {
  return api("cuEventElapsedTime", Needs::context, [=](Machine& m, Lock&) {
    const EventState &x = *known(m, a).state, &y = *known(m, b).state;
    if (!a->timing || !b->timing || x.recorded == 0 || y.recorded == 0) return Error::invalid_handle;
    if (x.done < x.recorded || y.done < y.recorded) return Error::not_ready;
    *ms = static_cast<float>(1e3 * (y.time - x.time));
    return Error::none;
  });
}
FD_ALIAS(Result, cuEventElapsedTime_v2, cuEventElapsedTime, float*, Event*, Event*);

// Memory is not shared between processes.
FD_EXPORT Result cuIpcGetMemHandle(void*, DevicePointer) {
  return api("cuIpcGetMemHandle", Needs::context, [](Machine&, Lock&) { return Error::not_supported; });
}
FD_EXPORT Result cuIpcCloseMemHandle(DevicePointer) {
  return api("cuIpcCloseMemHandle", Needs::context, [](Machine&, Lock&) { return Error::not_supported; });
}
