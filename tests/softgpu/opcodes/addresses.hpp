// Addresses of memory instructions: what a generic address means, and where its bytes lie once they are checked.
#pragma once
#include "machine/block.hpp"

namespace softgpu {

void addresses_of(const Warp& w, const Operand& base, i32 offset, u32 mask,
                  u64 (&a)[Lanes]);  // lanes that are off keep what they had

// The space of an access; generic addresses are made addresses of that space. All lanes of one instruction must mean the same space.
Space resolve(Warp& w, const Instruction& i, u32 mask, u64 (&a)[Lanes]);

u8* at(Warp& w, Space space, u64 address, u32 bytes, int lane, Kind kind, const void* value = nullptr);

}  // namespace softgpu
