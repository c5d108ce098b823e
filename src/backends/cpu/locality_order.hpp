// An order of the rows in which neighbours in space are mostly neighbours in memory: halves at the median of the widest
// coordinate, down to panels. Tiles far apart can then be skipped, and a panel's own centre is close to its rows. Where two
// clusters far apart, each of half a panel or more, would share a panel the cut is made between them.
//
// No panel has fewer than half of the rows it could have, unless there are no more rows: whatever the points, there are at most
// twice as many panels as rows need. Rows of a smaller cluster far from all others share a panel with those, and its radius shows
// it (accuracy.hpp). The exception: rows a thousand million times further away than nearly all others reach, whose panel would have a
// centre from which the others' differences cannot be seen.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace fd::cpu {

struct LocalityOrder {
  std::vector<std::size_t> order;      // order[i]: the row at place i
  std::vector<std::size_t> first_row;  // panel p holds places first_row[p] … first_row[p + 1] - 1
};

// x: rows × dimension, row-major. Panels of at most `most` rows. `poll` is called every some 10^5 values at least, and may throw.
template <class T>
LocalityOrder locality_order(
    const T* x, std::size_t rows, std::size_t dimension, std::size_t most, const std::function<void()>& poll = [] {});

}  // namespace fd::cpu
