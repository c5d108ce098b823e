// The tuning table: how a pass is cut. Bits of results depend on `block_rows` and `fused_group` alone, and those on sizes alone: not on the device, its
// memory, or what else it does.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fd::cuda {

// Rows of a block; a thread block makes a pair of them. Larger ones write fewer partial sums, smaller ones keep more multiprocessors busy.
inline int block_rows(std::size_t rows) { return rows < 8192 ? 128 : rows < 32768 ? 256 : rows < 131072 ? 512 : 1024; }

// Chips of which tensor cores multiply doubles faster than, or as fast as, other units do (the others have them at a 64th of the rate, if at all).
inline bool multiplies_doubles(int capability) { return capability == 80 || capability == 90 || capability == 100; }

// Columns that one launch of the fused kernel takes of so many that are left. Products of one side alone need fp32's range of entries: cores, not tensor cores.
inline int fused_group(std::size_t left, bool two_sided) {
  if (left > 4 && two_sided) return left > 8 ? 16 : 8;
  return left > 2 ? 4 : left > 1 ? 2 : 1;
}

// A launch lasts some hundredths of a second: multiplications, roughly, and bytes of partial sums. Where that many are a few blocks (hundreds of columns,
// fp64) there are as many blocks as fill the device twice: no more than these are under way at a time anyway, and the last of them leave less of it idle.
constexpr double fused_work = 0x1p39, direct_work = 0x1p35, direct_work_double = 0x1p33;
constexpr int blocks_a_multiprocessor = 4;  // at most, of any kernel
inline double least_blocks(int multiprocessors) { return 2.0 * blocks_a_multiprocessor * multiprocessors; }
inline std::size_t workspace_bytes(std::size_t device_memory) {
  return std::min<std::size_t>(std::size_t{256} << 20, device_memory / 8);
}

// Of other GPUs' points that stay here from pass to pass.
inline std::size_t visitors_bytes(std::size_t device_memory) { return device_memory / 4; }

}  // namespace fd::cuda
