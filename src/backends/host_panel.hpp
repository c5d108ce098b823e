// A panel in host memory, row-major: row i, column c at values[i * stride + c]. Shared by the back-ends that live on the host.
//
// Long rows begin an odd number of cache lines apart: a power of two would send the same columns of all rows to a few places of the cache. A
// vector that begins in a row may be read to its end, also in the last row.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/archive.hpp"
#include "device/panel.hpp"

namespace fd {

template <class T>
class HostPanel final : public Panel {
 public:
  HostPanel(const SharedLayout& layout, std::size_t columns, Precision precision)
      : Panel(layout, columns, precision), stride(apart(columns)), values(rows_of(layout->here(), stride)) {}
  const std::size_t stride;  // from row to row
  AlignedBuffer<T> values;

 private:
  static constexpr std::size_t line = 64 / sizeof(T), longest_vector = 2 * line;
  static std::size_t apart(std::size_t columns) {
    return columns <= 2 * line || columns > SIZE_MAX / 2 ? columns : ((columns + line - 1) / line | 1) * line;
  }
  static std::size_t rows_of(std::size_t rows, std::size_t stride) {
    const std::size_t size = product_of(rows, stride);
    return size > SIZE_MAX - longest_vector ? size : size + longest_vector;
  }
};

// A window into a host panel.
template <class T>
struct HostColumns {
  T* data;             // first row, first column of the window
  std::size_t stride;  // from row to row
  std::size_t rows, count;

  explicit HostColumns(Columns c)
      : data(static_cast<HostPanel<T>*>(c.panel)->values.data() + c.first),
        stride(static_cast<HostPanel<T>*>(c.panel)->stride),
        rows(c.rows()),
        count(c.count) {
    assert(dynamic_cast<HostPanel<T>*>(c.panel) != nullptr && "a panel of this back-end and precision");
    assert(c.first <= c.panel->columns() && count <= c.panel->columns() - c.first);
  }
  T& operator()(std::size_t row, std::size_t column) const {
    assert(row < rows && column < count);
    return data[row * stride + column];
  }
  T* row(std::size_t i) const {
    assert(i < rows);
    return data + i * stride;
  }
};

// Rows of a window on their way to another rank, and there.
template <class T>
void send_host_rows(HostColumns<T> a, std::size_t first, std::size_t count, Archive& to) {
  for (std::size_t i = first; i < first + count; ++i) to.bytes(a.row(i), a.count * sizeof(T));
}
template <class T>
void receive_host_rows(Archive& from, HostColumns<T> y, std::size_t first, std::size_t count, bool accumulate) {
  std::vector<T> row(y.count);
  for (std::size_t i = first; i < first + count; ++i) {
    from.bytes(row.data(), row.size() * sizeof(T));
    for (std::size_t c = 0; c < y.count; ++c) y(i, c) = row[c] + (accumulate ? y(i, c) : T{0});
  }
}

}  // namespace fd
