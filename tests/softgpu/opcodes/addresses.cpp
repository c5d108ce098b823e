#include "opcodes/addresses.hpp"

#include <bit>

namespace softgpu {

void addresses_of(const Warp& w, const Operand& base, i32 offset, u32 mask, u64 (&a)[Lanes]) {
  if (mask == ~0u && base.width == 8) {
    const u64* p = w.from<u64>(base);
    for (int l = 0; l < Lanes; ++l) a[l] = p[l] + static_cast<u64>(static_cast<i64>(offset));
  } else if (mask == ~0u) {
    const u32* p = w.from<u32>(base);
    for (int l = 0; l < Lanes; ++l) a[l] = p[l] + static_cast<u32>(offset);
  } else if (base.width == 8) {
    const u64* p = w.from<u64>(base);
    for (u32 k = mask; k; k &= k - 1)
      a[std::countr_zero(k)] = p[std::countr_zero(k)] + static_cast<u64>(static_cast<i64>(offset));
  } else {
    const u32* p = w.from<u32>(base);
    for (u32 k = mask; k; k &= k - 1) a[std::countr_zero(k)] = p[std::countr_zero(k)] + static_cast<u32>(offset);
  }
}

Space resolve(Warp& w, const Instruction& i, u32 mask, u64 (&a)[Lanes]) {
  if (i.space == Space::constant) return Space::global;
  if (i.space != Space::generic) return i.space;
  Space space = Space::generic;
  for (u32 k = mask; k; k &= k - 1) {
    const int l = std::countr_zero(k);
    Space s = Space::global;
    if (a[l] - shared_window < window_size) s = Space::shared, a[l] -= shared_window;
    else if (a[l] - local_window < window_size) s = Space::local, a[l] -= local_window;
    if (space != Space::generic && s != space)
      w.block->fault(w, l, Error::launch_failed, "lanes of one generic access mean different spaces: not known to this machine");
    space = s;
  }
  return space;
}

u8* at(Warp& w, Space space, u64 address, u32 bytes, int lane, Kind kind, const void* value) {
  Block& b = *w.block;
  if (space == Space::global) return b.global(w, address, bytes, lane, kind);
  if (space == Space::shared) {
    if (address > window_size)
      b.fault(w, lane, Error::illegal_address, "access outside of shared memory, address " + std::to_string(address));
    b.shared.access(w, static_cast<u32>(address), bytes, lane, kind, value);
    return b.shared.data() + address;
  }
  // local: functions below kernel_local, the kernel above; each lane has its own
  const u32 functions = b.kernel.calls ? b.module.function_local : 0;
  const u64 size = b.kernel.local_bytes + functions;
  const u64 offset = address >= kernel_local ? address - kernel_local + functions : address;
  if (address % bytes) b.fault(w, lane, Error::illegal_address, "misaligned access to local memory");
  if (address >= kernel_local ? offset + bytes > size : offset + bytes > functions)
    b.fault(w, lane, Error::illegal_address, "access outside of local memory, address " + std::to_string(address));
  return w.local.data() + static_cast<std::size_t>(lane) * size + offset;
}

}  // namespace softgpu
