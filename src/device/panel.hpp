// A tall block of vectors, rows × columns, where the back-end keeps it. No element access outside back-ends.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>

#include <flashdiffusion/precision.hpp>

#include "device/layout.hpp"

namespace fd {

class Panel {
 public:
  Panel(SharedLayout layout, std::size_t columns, Precision precision)
      : layout_(std::move(layout)), columns_(columns), precision_(precision) {}
  virtual ~Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  const SharedLayout& layout() const { return layout_; }
  std::size_t rows() const { return layout_->here(); }
  std::size_t columns() const { return columns_; }
  Precision precision() const { return precision_; }

 private:
  SharedLayout layout_;
  std::size_t columns_;
  Precision precision_;
};

// A window of adjacent columns of a panel; passed by value. Does not own the panel.
struct Columns {
  Panel* panel = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;

  Columns() = default;
  Columns(Panel& whole) : panel(&whole), count(whole.columns()) {}  // NOLINT: a panel is the window of all its columns
  Columns(Panel& whole, std::size_t from, std::size_t number) : panel(&whole), first(from), count(number) {
    assert(from <= whole.columns() && number <= whole.columns() - from);
  }
  std::size_t rows() const { return panel->rows(); }
  Precision precision() const { return panel->precision(); }
  Columns part(std::size_t from, std::size_t number) const {
    assert(from <= count && number <= count - from);
    return {*panel, first + from, number};
  }
};

}  // namespace fd
