// Happens-before between operations of streams and the host, by vector clocks.
//
// Actor 0 is the host, every stream is another. An operation is a step of its stream; its clock says which steps of every actor it waited for,
// and is known when it is queued: it does not depend on the order in which the machine then runs things.
// The host is one actor, however many threads it has: what host threads agree upon among themselves is not seen here.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "machine/history.hpp"

namespace softgpu {

class Clock {
 public:
  u32 of(u32 actor) const { return actor < steps_.size() ? steps_[actor] : 0; }
  void set(u32 actor, u32 step) {
    if (actor >= steps_.size()) steps_.resize(actor + 1, 0);
    steps_[actor] = step;
  }
  void join(const Clock& other) {
    if (other.steps_.size() > steps_.size()) steps_.resize(other.steps_.size(), 0);
    for (std::size_t i = 0; i < other.steps_.size(); ++i) steps_[i] = std::max(steps_[i], other.steps_[i]);
  }
  u32 actors() const { return static_cast<u32>(steps_.size()); }

 private:
  std::vector<u32> steps_;
};

// What an access of an operation needs to know of it.
struct Step : Order {
  u32 actor = 0, number = 0;
  Clock clock;
  std::string name;  // "kernel xgemm", "copy to the host"
  Access access() const { return {actor, number, 0, 0, 15, false}; }
  bool before(const Access& earlier) const override {
    return (earlier.actor == actor && earlier.epoch == number) || clock.of(earlier.actor) >= earlier.epoch;
  }
};

// The names of steps, for messages. Safe for several threads.
std::string name_of_step(u32 actor, u32 number);
void keep_step_name(u32 actor, u32 number, const std::string& name);
void forget_step_names();

}  // namespace softgpu
