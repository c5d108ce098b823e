// Shared memory of a block: bytes, the history of every word, and copies (cp.async) that are under way.
//
// Finds: accesses outside or misaligned, reads of what was never written or may still be on its way, races between warps (no barrier between) and
// between lanes of a warp (no bar.warp.sync between). Warps are ordered by barriers alone, named or not, as `Warp::seen` says.
#pragma once
#include "machine/fault.hpp"
#include "machine/history.hpp"

namespace softgpu {

struct Warp;

struct SharedWord {
  u32 state = 0;
  u32 write_epoch = 0, read_epoch = 0;       // Warp::moment of the last plain write and read
  u8 write_lane[2] = {}, read_lane[2] = {};  // of each half of the word; `several`
};

class SharedMemory {
 public:
  void begin(u32 bytes);
  u32 size() const { return static_cast<u32>(bytes_.size()); }
  u8* data() { return bytes_.data(); }

  // Checks one lane's access, and remembers it; `size` is a power of two. Throws through Block::fault.
  void access(Warp& w, u32 address, u32 size, int lane, Kind kind, const void* value = nullptr);
  void read(Warp& w, const u64* addresses, u32 size, u32 mask);  // the same for plain reads of these lanes, one after the other
  void start_copy(Warp& w, u32 to, u32 size, int lane);
  void end_copy(Warp& w, u32 to, u32 size, int lane);

 private:
  static constexpr u8 several = 255, nobody = 254;
  void check(Warp& w, u32 address, u32 size, int lane, Kind kind, const void* value);
  void lanes(Warp& w, SharedWord& s, u32 word, u8 bytes, int lane, Kind kind, const void* value, u32 address);
  std::vector<u8> bytes_;
  std::vector<SharedWord> words_;
  History history_;
};

}  // namespace softgpu
