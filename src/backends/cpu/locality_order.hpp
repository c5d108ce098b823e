// An order of the rows in which neighbours in space are mostly neighbours in memory: halves at the median of the widest
// coordinate, down to panels. Tiles far apart can then be skipped, and a panel's own centre is close to its rows.
#pragma once

#include <cstddef>
#include <vector>

namespace fd::cpu {

// x: rows × dimension, row-major. Every cut falls on a multiple of `leaf`.
template <class T>
std::vector<std::size_t> locality_order(const T* x, std::size_t rows, std::size_t dimension, std::size_t leaf);

}  // namespace fd::cpu
