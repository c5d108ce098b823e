// Which rows of a table are here, and in which order a back-end keeps them. Points own a layout, and every panel of these rows shares it: it is
// how a panel's places translate to rows, and the same for every panel of the same points.
//
// Does not know: coordinates, columns, where the other rows are.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace fd {

class Layout {
 public:
  // Rows [first, first + here) of `rows`. `order`: place i of a panel holds row first + order[i]; empty: first + i.
  Layout(std::size_t rows, std::size_t first, std::size_t here, std::vector<std::size_t> order = {})
      : rows_(rows), first_(first), here_(here), order_(std::move(order)) {
    assert(first <= rows && here <= rows - first && (order_.empty() || order_.size() == here));
  }

  std::size_t rows() const { return rows_; }  // of all ranks together
  std::size_t first() const { return first_; }
  std::size_t here() const { return here_; }
  std::size_t local_row(std::size_t place) const { return order_.empty() ? place : order_[place]; }  // counted from first()
  std::size_t row(std::size_t place) const { return first_ + local_row(place); }

 private:
  std::size_t rows_, first_, here_;
  std::vector<std::size_t> order_;
};

using SharedLayout = std::shared_ptr<const Layout>;

// All rows, as they come.
inline SharedLayout plain_layout(std::size_t rows) { return std::make_shared<const Layout>(rows, 0, rows); }

}  // namespace fd
