#include "backends/cpu/locality_order.hpp"

#include <algorithm>
#include <numeric>

namespace fd::cpu {
namespace {

template <class T>
std::size_t widest_coordinate(const T* x, std::size_t dimension, const std::size_t* first, const std::size_t* last) {
  std::vector<T> low(x + *first * dimension, x + (*first + 1) * dimension), high = low;
  for (auto row = first; row != last; ++row)
    for (std::size_t c = 0; c < dimension; ++c) {
      low[c] = std::min(low[c], x[*row * dimension + c]);
      high[c] = std::max(high[c], x[*row * dimension + c]);
    }
  std::size_t widest = 0;
  for (std::size_t c = 1; c < dimension; ++c)
    if (high[c] - low[c] > high[widest] - low[widest]) widest = c;
  return widest;
}

}  // namespace

template <class T>
std::vector<std::size_t> locality_order(const T* x, std::size_t rows, std::size_t dimension, std::size_t leaf) {
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  struct Range {
    std::size_t first, last;
  };
  std::vector<Range> open = {{0, rows}};
  while (!open.empty()) {
    const auto [first, last] = open.back();
    open.pop_back();
    if (last - first <= leaf) continue;
    const std::size_t leaves = (last - first + leaf - 1) / leaf;
    const std::size_t middle = first + leaves / 2 * leaf;
    const std::size_t c = widest_coordinate(x, dimension, order.data() + first, order.data() + last);
    // ties are broken by row number: the order is a function of the data alone
    std::nth_element(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(middle),
                     order.begin() + static_cast<std::ptrdiff_t>(last), [&](std::size_t a, std::size_t b) {
                       const T u = x[a * dimension + c], v = x[b * dimension + c];
                       return u != v ? u < v : a < b;
                     });
    open.push_back({first, middle});
    open.push_back({middle, last});
  }
  // nth_element leaves the inside of a leaf in an order of its own: make it ours
  for (std::size_t first = 0; first < rows; first += leaf)
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(std::min(rows, first + leaf)));
  return order;
}

template std::vector<std::size_t> locality_order(const float*, std::size_t, std::size_t, std::size_t);
template std::vector<std::size_t> locality_order(const double*, std::size_t, std::size_t, std::size_t);

}  // namespace fd::cpu
