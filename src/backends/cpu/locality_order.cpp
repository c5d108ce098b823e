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

constexpr std::size_t gap_search_most = 2048;  // a gap that would end inside a panel shows in a range of this size or smaller
constexpr double gap_factor = 20;              // a gap this many times wider than all the rest of the range is worth a cut

struct Range {
  std::size_t first, last;
};

// The place behind a dominating gap of the sorted range, or `first` where there is none.
template <class Value>
std::size_t place_behind_gap(Range range, Value&& value) {
  const double extent = value(range.last - 1) - value(range.first);
  for (std::size_t i = range.first + 1; i < range.last; ++i) {
    const double gap = value(i) - value(i - 1);
    if (gap > gap_factor * (extent - gap)) return i;
  }
  return range.first;
}

}  // namespace

template <class T>
LocalityOrder locality_order(const T* x, std::size_t rows, std::size_t dimension, std::size_t most) {
  LocalityOrder result;
  auto& order = result.order;
  order.resize(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  std::vector<Range> open = {{0, rows}};
  while (!open.empty()) {  // depth first, left to right: panels come out in order
    const Range range = open.back();
    open.pop_back();
    const std::size_t size = range.last - range.first;
    const std::size_t c = size > 2 ? widest_coordinate(x, dimension, order.data() + range.first, order.data() + range.last) : 0;
    // ties are broken by row number: the order is a function of the data alone
    const auto before = [&](std::size_t a, std::size_t b) {
      const T u = x[a * dimension + c], v = x[b * dimension + c];
      return u != v ? u < v : a < b;
    };
    std::size_t cut = range.first;
    if (size > 2 && size <= gap_search_most) {
      std::sort(at(range.first), at(range.last), before);
      cut = place_behind_gap(range, [&](std::size_t i) { return static_cast<double>(x[order[i] * dimension + c]); });
    }
    if (cut == range.first && size <= most) {
      std::sort(at(range.first), at(range.last));
      result.first_row.push_back(range.first);
      continue;
    }
    if (cut == range.first) {
      cut = range.first + (size + most - 1) / most / 2 * most;
      std::nth_element(at(range.first), at(cut), at(range.last), before);
    }
    open.push_back({cut, range.last});
    open.push_back({range.first, cut});
  }
  result.first_row.push_back(rows);
  return result;
}

template LocalityOrder locality_order(const float*, std::size_t, std::size_t, std::size_t);
template LocalityOrder locality_order(const double*, std::size_t, std::size_t, std::size_t);

}  // namespace fd::cpu
