// Waits until an atomic is no longer `old`, for work whose parts follow one another within microseconds: looks a few thousand times
// before going to sleep. Whoever changes the value notifies.
#pragma once

#include <atomic>

namespace fd {

template <class T>
T wait_for_change(const std::atomic<T>& value, T old) {
  for (int look = 0; look < 4000; ++look) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace fd
