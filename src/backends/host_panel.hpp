// A panel in host memory, row-major: row i, column c at values[i * columns + c]. Shared by the back-ends that live on the host.
#pragma once

#include <cassert>

#include "base/aligned_buffer.hpp"
#include "device/panel.hpp"

namespace fd {

template <class T>
class HostPanel final : public Panel {
 public:
  HostPanel(const SharedLayout& layout, std::size_t columns, Precision precision)
      : Panel(layout, columns, precision), values(product_of(layout->here(), columns)) {}
  AlignedBuffer<T> values;
};

// A window into a host panel.
template <class T>
struct HostColumns {
  T* data;             // first row, first column of the window
  std::size_t stride;  // from row to row
  std::size_t rows, count;

  explicit HostColumns(Columns c)
      : data(static_cast<HostPanel<T>*>(c.panel)->values.data() + c.first),
        stride(c.panel->columns()),
        rows(c.rows()),
        count(c.count) {
    assert(dynamic_cast<HostPanel<T>*>(c.panel) != nullptr && "a panel of this back-end and precision");
    assert(c.first <= stride && count <= stride - c.first);
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

}  // namespace fd
