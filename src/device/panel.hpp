// A tall block of vectors, rows × columns, where the back-end keeps it. No element access outside back-ends.
#pragma once

#include <cassert>
#include <cstddef>

namespace fd {

class Panel {
 public:
  Panel(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  virtual ~Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }

 private:
  std::size_t rows_, columns_;
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
  Columns part(std::size_t from, std::size_t number) const {
    assert(from <= count && number <= count - from);
    return {*panel, first + from, number};
  }
};

}  // namespace fd
