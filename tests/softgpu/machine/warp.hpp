// A warp of 32 lanes: registers, predicates, the paths its lanes are on.
//
// Divergence: lanes that part at a branch run one path after the other up to the branch's immediate post-dominator (ptx/flow.hpp), where they
// go on together. `paths` is the stack of that; its last entry runs. A call puts the callee on top, and the caller's entry goes on once every
// lane has returned. This holds for any control flow, however it is laid out; what it cannot run is a lane that spins until another lane of
// its own warp, on a path that waits, does something.
#pragma once
#include "machine/clock.hpp"
#include "machine/history.hpp"

namespace softgpu {

struct Block;

struct Path {
  u32 pc = 0, mask = 0, meet = nowhere;
  bool calls = false;  // waits for a function to return; the call is the instruction before `pc`
};

struct AsyncCopy {  // of cp.async, under way
  u32 to = 0, size = 0, real = 0;
  u64 from = 0;
  u32 group = 0;
  u8 lane = 0;
};

struct Warp : Order {
  Block* block = nullptr;
  u32 index = 0, live = 0;  // live: lanes that have not ended
  bool waiting = false;
  std::vector<Path> paths;

  u32 step = 1;    // counts barriers
  u32 moment = 1;  // one number for each stretch between synchronisations of this warp, of all warps of the block
  Clock seen;      // steps of other warps that barriers put before now
  Steps steps;
  bool before(const Access& earlier) const override { return earlier.actor == index || seen.of(earlier.actor) >= earlier.epoch; }

  bool fenced = false;                        // no plain write to global memory since the last fence
  std::vector<std::pair<u32, u32>> observed;  // what blocks had published, seen but not yet fenced

  std::vector<u8> memory, slots, local;
  u8* registers = nullptr;
  const u8* constants = nullptr;
  std::vector<u32> predicates;
  u32 carry = 0;
  u32 groups[Lanes] = {};  // of cp.async, committed
  std::vector<AsyncCopy> copies;

  template <class T>
  T* to(const Operand& o) {
    return reinterpret_cast<T*>(registers + o.offset);
  }
  template <class T>
  const T* from(const Operand& o) const {
    return reinterpret_cast<const T*>((o.constant ? constants : registers) + o.offset);
  }
  u32 predicate(const Operand& o) const { return predicates[o.offset] ^ (o.negated ? ~0u : 0u); }
  void set_predicate(const Operand& o, u32 value, u32 mask) {
    predicates[o.offset] = (predicates[o.offset] & ~mask) | (value & mask);
  }
};

}  // namespace softgpu
