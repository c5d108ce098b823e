// A block of threads, run warp by warp, and a launch, which is its blocks one after the other.
//
// Guarantees: the same bits for the same seed. Warps run in an order drawn anew at each turn, up to a barrier, their end, or `turn`
// instructions, so that warps may wait for each other by spinning; blocks run in a drawn order, each to its end, and must not wait for each other.
// Between blocks of a launch the only order is what they publish and observe: a fence, then an atomic or volatile write; an atomic or volatile
// read of it, then a fence (or .release and .acquire in one).
#pragma once
#include <random>
#include <unordered_map>

#include "machine/counters.hpp"
#include "machine/memory.hpp"
#include "machine/shared.hpp"
#include "machine/warp.hpp"

namespace softgpu {

// Windows of generic addresses. Global memory lies above 2^48, host memory is where the host has it.
constexpr u64 shared_window = u64(1) << 47 | u64(1) << 40, local_window = u64(1) << 47 | u64(1) << 41, window_size = u64(1) << 32;

struct LoadedModule {
  std::shared_ptr<const Module> module;
  std::vector<u8> constants;  // with addresses filled in
  std::vector<u64> addresses;
};

struct LaunchOptions {
  bool checks = true;
  u64 seed = 1, limit = u64(1) << 36;  // warp instructions of a block
};

struct Launch {
  Memory* memory = nullptr;
  std::shared_ptr<const LoadedModule> loaded;
  const Function* kernel = nullptr;
  int device = 0, capability = 80, sms = 4;
  u32 peers = 0;  // devices whose memory may be touched, a bit each
  u32 grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1}, dynamic_shared = 0;
  std::vector<u8> parameters;
  LaunchOptions options;
  const Step* step = nullptr;
  Counters counters;
  std::unordered_map<u64, std::unordered_map<u32, u32>> published;  // at an address, by block: its phase

  void run();
};

struct Barrier {
  u32 expected = 0, arrived = 0, ones = 0, all = 0;  // threads; 0: every warp that has not ended
  std::vector<u32> waiting;                          // warps
  std::vector<u8> here;                              // warps that came, by sync or arrive
  Clock clock;
};

struct Block : Order {
  static constexpr u32 turn = 1 << 15;
  Launch& launch;
  const Module& module;
  const Function& kernel;
  Memory& memory;
  bool checks = true;
  u32 id[3] = {}, number = 0, count = 0, phase = 0, moments = 1;
  u64 left = 0;  // warp instructions until it is given up
  SharedMemory shared;
  std::vector<Warp> warps;
  Barrier barriers[16];
  const Instruction* now = nullptr;
  std::unordered_map<u32, u32> acquired;  // of other blocks: what they had published up to this phase lies before now

  explicit Block(Launch& l);
  void run(u32 block_number);
  [[noreturn]] void fault(const Warp& w, int lane, Error code, const std::string& what) const;
  bool before(const Access& earlier) const override;

  // Where a lane's bytes of global memory lie, after all checks.
  u8* global(Warp& w, u64 address, u32 size, int lane, Kind kind);
  void order(Warp& w, u64 address, Kind kind, bool acquires, bool releases);  // of an atomic or volatile access
  void fence(Warp& w);
  void start_copy(Warp& w, const AsyncCopy& c);
  void finish_copies(Warp& w, u32 mask, u32 leave);
  void new_moment(Warp& w) { w.moment = ++moments; }

  void count_banks(const u64* addresses, u32 mask, u32 size);
  void count_sectors(const u64* addresses, u32 mask, u32 size);

 private:
  void begin();
  void step(Warp& w);
  void branch(Warp& w, const Instruction& i, u32 active);
  void part(Warp& w, const u32* targets, const u32* masks, int n, u32 meet);
  void call(Warp& w, const Instruction& i, u32 active);
  void leave(Warp& w, const Instruction& i, u32 active);
  void end_lanes(Warp& w, u32 active);
  void arrive(Warp& w, const Instruction& i, u32 active);
  void try_complete(Barrier& b);
  void give(Warp& w, const Instruction& i, const Barrier& b);

  Allocation* recent_[2] = {};
  Steps steps_;
  std::vector<u32> order_;
};

}  // namespace softgpu
