// Runs of the library without Python's global lock, and what becomes of them when Python ends.
//
// A daemon thread may be in the middle of a run when the interpreter is finalised. From then on CPython ends a thread that asks for the lock by
// unwinding its stack, through frames that do not allow it, and the process aborts. So at exit runs in other threads are told to stop and waited
// for; their threads do not take the lock again, and sleep until the process is gone.
#pragma once

#include <nanobind/nanobind.h>

namespace fd::python {

// The interpreter ends in another thread: stop, and do not take the lock.
bool python_ends() noexcept;

// From construction to destruction the lock is released. Where Python ends meanwhile the destructor does not return.
class Unlocked {
 public:
  Unlocked() noexcept;
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace fd::python
