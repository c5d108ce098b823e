// Who read and wrote a word of memory, and whether what comes next is ordered behind it.
//
// A word's history is a number, its state; equal histories have equal numbers, so that most accesses cost one look-up (`Steps`). A state
// keeps the writes that may still matter, the reads since, and which of its four bytes were ever written. As in FastTrack (Flanagan and Freund
// 2009) what lies before an access is dropped when the access takes its place; nothing that could race later is forgotten, so a race is found
// whatever the order in which things ran.
// Knows nothing of streams, blocks and warps: `Order` says what lies before. Not for several threads at a time.
#pragma once
#include <array>
#include <functional>

#include "ptx/program.hpp"

namespace softgpu {

constexpr u32 many = ~0u;  // several parts of one actor's step

struct Access {
  u32 actor = 0, epoch = 0;  // global memory: stream and its step; shared: warp and its step
  u32 part = 0, phase = 0;   // global memory: block of the launch, and how often it had published before
  u8 bytes = 15;             // of the word, a bit each
  bool strong = false;       // atomic, volatile, relaxed ...: two such do not race
  bool operator==(const Access&) const = default;
};

struct Order {
  virtual ~Order() = default;
  virtual bool before(const Access& earlier) const = 0;  // is it ordered before what happens now?
};

enum class Kind : u8 { read, write, strong_read, strong_write, update };  // update: reads and writes, atomically
constexpr int kinds = 5;

class History {
 public:
  static constexpr u32 fresh = 0, written = 1;  // nothing happened; only that its bytes have values
  enum class Verdict : u8 { fine, unwritten, race };
  struct Outcome {
    Verdict verdict = Verdict::fine;
    u32 state = 0;
    Access other;  // of a race
    bool other_wrote = false;
  };

  History() { clear(); }
  void clear();
  Outcome next(u32 state, const Access& me, Kind kind, const Order& order);
  u32 with_valid(u32 state, u8 valid);  // the same, but these bytes have values and the others none
  u8 valid(u32 state) const { return states_[state].valid; }
  std::size_t size() const { return states_.size(); }

  // Throws away what is `forgotten` and gives every state still in use, which `each_use` shows one after the other, its new number.
  void compact(const std::function<bool(const Access&)>& forgotten,
               const std::function<void(const std::function<void(u32&)>&)>& each_use);

 private:
  struct State {
    u32 first = 0;
    u16 writes = 0, reads = 0;
    u8 valid = 0;
  };
  u32 intern(const std::vector<Access>& writes, const std::vector<Access>& reads, u8 valid);
  void grow();

  std::vector<Access> pool_;
  std::vector<State> states_;
  std::vector<u32> table_;  // open addressing; 0: free (state 0 is never looked up)
  std::vector<Access> writes_, reads_;
};

// The transitions of one accessor that were asked for lately.
class Steps {
 public:
  void forget() { entries_.fill({many, 0}); }
  const u32* find(u32 state, Kind kind) const {
    const Entry& e = entries_[static_cast<std::size_t>(kind) * Size + state % Size];
    return e.from == state ? &e.to : nullptr;
  }
  void keep(u32 from, Kind kind, u32 to) { entries_[static_cast<std::size_t>(kind) * Size + from % Size] = {from, to}; }

 private:
  static constexpr std::size_t Size = 32;
  struct Entry {
    u32 from = many, to = 0;
  };
  std::array<Entry, kinds * Size> entries_;
};

}  // namespace softgpu
