// What every driver function does first: count the call, let it fail if that was asked for, take the lock, find the context.
//
// The functions themselves (devices.cpp, memory.cpp, streams.cpp, modules.cpp) have the names and signatures of NVIDIA's cuda.h, which is not
// needed to build them: handles are pointers, results are ints.
#pragma once
#include "driver/machine.hpp"

namespace softgpu {

using Result = int;
using DevicePointer = unsigned long long;

enum class Needs : u8 {
  nothing,    // may be called before cuInit
  driver,     // cuInit
  context,    // a current context without an error
  broken_too  // a current context; frees and destroys: does its work even if the context is broken or the call is made to fail
};

extern thread_local Context* current;

// Counts the call; the code it is to fail with, or none.
Error enter(Machine& m, const char* name);

template <class F>
Result api(const char* name, Needs needs, F f) {
  Machine& m = Machine::get();
  Lock lock(m.mutex);
  const Error injected = enter(m, name);
  if (injected != Error::none && needs != Needs::broken_too) return static_cast<Result>(injected);
  if (m.left_out(name)) return 0;
  if (needs != Needs::nothing && !m.initialized) return static_cast<Result>(Error::not_initialized);
  if (needs == Needs::context || needs == Needs::broken_too) {
    if (!current || current->references == 0) return static_cast<Result>(Error::invalid_context);
    if (needs == Needs::context && current->broken != Error::none) return static_cast<Result>(current->broken);
  }
  Error e = Error::none;
  try {
    e = f(m, lock);
  } catch (const Fault& fault) {
    // a wrong argument is the call's own error; what a check finds breaks the context
    const bool finding = fault.code == Error::illegal_address || fault.code == Error::launch_failed;
    if (fault.what()[0] && (!finding || !current)) report(std::string(name) + ": " + fault.what());
    if (finding && current && fault.what()[0])
      m.break_context(*current, Fault(fault.code, std::string(name) + ": " + fault.what()));
    e = fault.code;
  } catch (const std::bad_alloc&) {
    e = Error::out_of_memory;
  } catch (const std::exception& other) {
    report(std::string(name) + ": " + other.what());
    e = Error::unknown;
  }
  return static_cast<Result>(injected != Error::none ? injected : e);
}

}  // namespace softgpu

#define FD_EXPORT extern "C" __attribute__((visibility("default")))
// Another name of a function, as cuda.h renames them.
#define FD_ALIAS(result, other, name, ...) FD_EXPORT result other(__VA_ARGS__) __attribute__((alias(#name)))
