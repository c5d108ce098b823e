// What ranks of one process say to each other in place of what they hold: where it lies. And what was copied from there and may still be on its way.
#pragma once

#include <array>
#include <cstdint>

#include <flashdiffusion/error.hpp>

#include "backends/cuda/device.hpp"
#include "base/archive.hpp"

namespace fd::cuda {

// Memory of a device; `ready`: an event there after which it holds what it should, null: it does.
struct Lent {
  const Device* device = nullptr;
  Pointer address = 0;
  std::uint64_t bytes = 0;
  EventHandle ready = nullptr;
};
inline void archive(Archive& archive, Lent& lent) { archive.bytes(&lent, sizeof lent); }

// Memory that is being filled from another device. What reads it or writes it holds the stream first.
class Arrival {
 public:
  void fetch(const Device& device, Pointer to, std::size_t bytes, const Lent& from) {
    if (from.bytes != bytes) throw Error(Failure::device, "what a rank lends has another size than what was asked for");
    if (bytes == 0) return;
    device.fetch(to, *from.device, from.address, bytes, from.ready, arrived_);
    device_ = &device;
  }
  void meet() const {
    if (device_ != nullptr) arrived_.hold(device_->stream());
    device_ = nullptr;
  }

 private:
  mutable const Device* device_ = nullptr;  // null: nothing is on its way
  Event arrived_;
};

// Events of what was lent lately. One that is used again stands for a later point: whoever waits for it then waits longer than it must.
class LentEvents {
 public:
  EventHandle record(const Device& device) {
    Event& event = events_[next_++ % events_.size()];
    event.record(device);
    return event.handle();
  }

 private:
  std::array<Event, 16> events_;
  std::size_t next_ = 0;
};

}  // namespace fd::cuda
