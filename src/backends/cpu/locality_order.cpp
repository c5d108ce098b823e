#include "backends/cpu/locality_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fd::cpu {
namespace {

constexpr std::size_t gap_search_most = 2048;  // a gap that would end inside a panel shows in a range of this size or smaller
constexpr double gap_factor = 20;              // two clusters whose gap is this many times wider than either are worth a cut
constexpr double far_factor = 1e9;             // a gap so many times wider than nearly all rows reach is cut, few rows or not
constexpr double nearly_all = 0.75;
constexpr std::size_t worth_a_poll = std::size_t{1} << 17;  // values
constexpr std::size_t few_rows =
    96;  // in a table of so few, a part that is as much tighter than the gap is cut off, however many rows it has

// The coordinate in which some rows extend furthest, and how far.
template <class T>
class Widest {
 public:
  Widest(const T* x, std::size_t dimension) : x_(x), dimension_(dimension), low_(dimension), high_(dimension) {}

  void measure(const std::size_t* first, const std::size_t* last) {
    std::copy_n(x_ + *first * dimension_, dimension_, low_.begin());
    high_ = low_;
    for (auto row = first + 1; row < last; ++row) {
      const T* at = x_ + *row * dimension_;
      for (std::size_t c = 0; c < dimension_; ++c) {
        low_[c] = std::min(low_[c], at[c]);
        high_[c] = std::max(high_[c], at[c]);
      }
    }
    coordinate = 0;
    extent = 0;
    for (std::size_t c = 0; c < dimension_; ++c)
      if (const double one = static_cast<double>(high_[c]) - static_cast<double>(low_[c]); one > extent) {
        coordinate = c;
        extent = one;
      }
  }

  std::size_t coordinate = 0;
  double extent = 0;

 private:
  const T* x_;
  std::size_t dimension_;
  std::vector<T> low_, high_;
};

// The size that nearly all rows stay below, by their largest coordinate.
template <class T>
double reach_of_most(const T* x, std::size_t rows, std::size_t dimension) {
  std::vector<double> reach(rows, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c)
      reach[i] = std::max(reach[i], std::abs(static_cast<double>(x[i * dimension + c])));
  const auto at = reach.begin() + static_cast<std::ptrdiff_t>(nearly_all * static_cast<double>(rows - 1));
  std::nth_element(reach.begin(), at, reach.end());
  return *at;
}

// How many of `size` rows go to the left half: whole panels, but where two panels are left they share the rows.
std::size_t half_of(std::size_t size, std::size_t most) {
  const std::size_t panels = (size + most - 1) / most;
  return panels == 2 ? (size + 1) / 2 : panels / 2 * most;
}

}  // namespace

template <class T>
LocalityOrder locality_order(const T* x, std::size_t rows, std::size_t dimension, std::size_t most,
                             const std::function<void()>& poll) {
  LocalityOrder result;
  auto& order = result.order;
  order.resize(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  Widest<T> widest(x, dimension), side(x, dimension);
  const auto extent_of = [&](std::size_t first, std::size_t last) {
    side.measure(order.data() + first, order.data() + last);
    return side.extent;
  };
  struct Range {
    std::size_t first, last;
  };
  const double far = rows > 0 ? far_factor * reach_of_most(x, rows, dimension) : 0;
  std::vector<Range> open = {{0, rows}};
  std::size_t worked = 0;  // values, since the last poll
  while (!open.empty()) {  // depth first, left to right: panels come out in order
    const auto [first, last] = open.back();
    open.pop_back();
    const std::size_t size = last - first, least = most / 2;
    const bool search = size <= gap_search_most && size >= 2;
    if ((worked += size * dimension) > worth_a_poll) worked = 0, poll();
    if (search || size > most) widest.measure(order.data() + first, order.data() + last);
    const std::size_t c = widest.coordinate;
    const auto value = [&](std::size_t i) { return static_cast<double>(x[order[i] * dimension + c]); };
    // ties are broken by row number: the order is a function of the data alone
    const auto before = [&](std::size_t a, std::size_t b) {
      const T u = x[a * dimension + c], v = x[b * dimension + c];
      return u != v ? u < v : a < b;
    };
    std::size_t cut = first;
    // a centre shared with rows so far away would cost the others their digits
    if (search && ((far > 0 && widest.extent > far) || rows <= few_rows)) {
      std::sort(at(first), at(last), before);
      std::size_t gap = first + 1;
      for (std::size_t i = gap + 1; i < last; ++i)
        if (value(i) - value(i - 1) > value(gap) - value(gap - 1)) gap = i;
      const double wide = value(gap) - value(gap - 1);
      const auto tight = [&](double extent) { return extent > 0 && far_factor * extent < wide; };
      if (far > 0 && wide > far) cut = gap;
      else if (rows <= few_rows && (tight(extent_of(first, gap)) || tight(extent_of(gap, last)))) cut = gap;
    }
    if (cut == first && search && size >= 2 * least && widest.extent > 0) {
      std::sort(at(first), at(last), before);
      // the widest gap that leaves half a panel on either side
      std::size_t gap = first + least;
      for (std::size_t i = gap + 1; i + least <= last; ++i)
        if (value(i) - value(i - 1) > value(gap) - value(gap - 1)) gap = i;
      const double tight = (value(gap) - value(gap - 1)) / gap_factor;
      if (widest.extent - gap_factor * tight < tight && extent_of(first, gap) < tight && extent_of(gap, last) < tight) cut = gap;
    }
    if (cut == first && size <= most) {
      std::sort(at(first), at(last));
      result.first_row.push_back(first);
      continue;
    }
    if (cut == first) {
      cut = first + half_of(size, most);
      std::nth_element(at(first), at(cut), at(last), before);
    }
    open.push_back({cut, last});
    open.push_back({first, cut});
  }
  result.first_row.push_back(rows);
  return result;
}

template LocalityOrder locality_order(const float*, std::size_t, std::size_t, std::size_t, const std::function<void()>&);
template LocalityOrder locality_order(const double*, std::size_t, std::size_t, std::size_t, const std::function<void()>&);

}  // namespace fd::cpu
