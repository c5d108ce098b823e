// Faults on demand: the n-th allocation, write, thread or back-end of this program fails, as if memory, the disk or the system had run
// out. injection.cpp puts itself between the library and the system (the linker's --wrap, and functions of the same name in this
// program); with nothing armed it only counts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "device/backend.hpp"

namespace fd::faults {

class Countdown {
 public:
  // The n-th call from now, counted from 1, fails; `onwards`: all after it too.
  void fail_at(long n, bool onwards = false) {
    onwards_ = onwards;
    calls_ = 0;
    at_ = n;
  }
  void off() { at_ = 0; }
  long calls() const { return calls_; }  // since it was armed
  bool due() {
    const long at = at_;
    if (at == 0) return false;
    const long call = ++calls_;
    return call == at || (onwards_ && call > at);
  }

 private:
  std::atomic<long> at_{0}, calls_{0};
  std::atomic<bool> onwards_{false};
};

extern Countdown allocations;  // operator new, malloc, aligned_alloc of the library and its headers
extern Countdown writes;       // write, pwrite, ftruncate, fallocate, fsync and rename, of HDF5 too; not on standard streams
extern Countdown threads;      // pthread_create
extern std::atomic<bool> short_writes;  // each write takes half of what it is given
std::atomic<long>& live_objects();      // made by operator new and not yet deleted

// What make_backend() gives out goes through this where it is set.
extern std::function<std::unique_ptr<Backend>(std::unique_ptr<Backend>)> decorate_backend;

// Counts without failing.
inline constexpr long never = 1L << 60;

}  // namespace fd::faults
