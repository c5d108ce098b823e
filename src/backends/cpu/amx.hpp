// Tiles of dot products by AMX: 16 × 16 sums of products of 16-bit floats (bf16) an instruction, on processors that have it.
#pragma once

#include <cstddef>

namespace fd::cpu::amx {

// Points in 16-bit floats: a coordinate is high + low, and x.y is high.high + high.low + low.high, one dot product of three times the
// dimension, in chunks of 32 numbers.
inline constexpr std::size_t parts = 3, chunk = 32, side = 16;
inline std::size_t chunks(std::size_t dimension) { return (parts * dimension + chunk - 1) / chunk; }

// Whether this processor has it and the system lets this process use it.
bool available();

// Tile registers belong to a thread, between `begin` and `end`.
void begin();
void end();

// tile[j][i] = x_i.x_j for two panels of 48 places: the columns as [48/16][chunks][16 places][32 numbers] and the rows as
// [48/16][chunks][16 pairs of numbers][16 places][2], in the bits of floats.
void exponents(const float* columns, const float* rows, std::size_t chunks, float* tile);

}  // namespace fd::cpu::amx
