// Memory of the virtual GPUs: allocations with the history of every word, addresses that say their device.
//
// Guarantees: addresses are never given out twice, and gaps lie between allocations, so an access outside of every allocation, past the end of
// one, or into one that was freed is known as such. Bytes begin as 0xff (NaN) and as never written.
// Does not know streams; whoever calls sees to it that one operation at a time touches a device.
#pragma once
#include <map>
#include <mutex>

#include "machine/clock.hpp"
#include "machine/fault.hpp"

namespace softgpu {

struct Allocation {
  u64 address = 0, bytes = 0;
  int device = -1;  // -1: host memory that devices see; what the host does to it is not known, so it has no history
  bool of_module = false;
  std::unique_ptr<u8[]> own;
  u8* data = nullptr;
  std::unique_ptr<u32[]> states;           // a word each; none where nobody asks about order and unwritten memory
  std::vector<std::pair<u32, u32>> users;  // actor and last step that touched it
  void used_by(const Step& step);
};

struct DeviceMemory {
  int ordinal = 0;
  u64 next = 0, in_use = 0, peak = 0;
  std::map<u64, Allocation> allocations;
  std::map<u64, u64> freed;
  History history;
};

class Memory {
 public:
  void reset(int devices, bool watched = true);  // not watched: accesses are not held against each other
  u64 allocate(int device, u64 bytes, u32 align = 256, bool of_module = false);
  Allocation take(u64 address);  // of a device, whole; throws if there is none
  void map_host(void* p, u64 bytes);
  void unmap_host(void* p);
  bool is_mapped(const void* p, u64 bytes);

  // The allocation that holds these bytes; `what` names the access in the message.
  Allocation& at(u64 address, u64 bytes, const char* what);
  static int device_of(u64 address) { return static_cast<int>(address >> 48) - 1; }
  static u32 bit_of(u64 address) { return address >> 48 == 0 || address >> 48 > 8 ? 0 : 1u << device_of(address); }
  DeviceMemory& device(int ordinal) { return devices_[ordinal]; }
  int devices() const { return static_cast<int>(devices_.size()); }

  // Steps of copies and fills, with all checks. A copy carries over which bytes were written.
  void write(u64 to, const void* from, u64 bytes, const Step& step);
  void read(void* to, u64 from, u64 bytes, const Step& step);
  void copy(u64 to, u64 from, u64 bytes, const Step& step);
  void fill(u64 to, u32 value, int width, u64 count, const Step& step);
  void give_values(u64 to, const void* from, u64 bytes);  // before any step: a module's variables

  // Histories grow; this forgets accesses that lie before `floor`, which everything to come is behind.
  void compact(int device, const Clock& floor);

 private:
  void step_words(Allocation& a, u64 address, u64 bytes, Kind kind, const Step& step, const char* what);
  bool watched_ = true;
  std::vector<DeviceMemory> devices_;
  std::map<u64, Allocation> host_;
  std::mutex host_mutex_;
};

std::string describe_race(const Access& other, bool other_wrote, const Step& step);

}  // namespace softgpu
