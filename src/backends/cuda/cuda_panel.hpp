// A panel in a GPU's memory, row-major, and a window of it as kernels take it.
#pragma once

#include <cassert>
#include <memory>

#include "backends/cuda/device.hpp"
#include "backends/cuda/kernels/arguments.hpp"
#include "backends/cuda/lending.hpp"
#include "base/aligned_buffer.hpp"
#include "device/panel.hpp"

namespace fd::cuda {

using SharedDevice = std::shared_ptr<Device>;

class CudaPanel final : public Panel {
 public:
  CudaPanel(SharedDevice device, SharedLayout layout, std::size_t columns, Precision precision)
      : Panel(std::move(layout), columns, precision),
        device_(std::move(device)),
        values_(*device_, product_of(std::max<std::size_t>(1, rows()), std::max<std::size_t>(1, columns), value_bytes())) {}
  std::size_t value_bytes() const { return traits(precision()).wide_panels ? sizeof(double) : sizeof(float); }
  std::size_t bytes() const { return product_of(rows(), columns(), value_bytes()); }
  // For work of the device's stream.
  Pointer address() const {
    if (fresh_) device_->fill_zero(values_.address(), values_.bytes());
    fresh_ = false;
    arrival_.meet();
    return values_.address();
  }
  // Passes that used it end with a wait, so the stream is done with it.
  void borrow(const Lent& lent) {
    fresh_ = false;
    arrival_.fetch(*device_, values_.address(), bytes(), lent);
  }

 private:
  SharedDevice device_;  // outlives the buffer
  Buffer values_;
  mutable bool fresh_ = true;  // zero as soon as it is used
  Arrival arrival_;
};

inline Window window(Columns a) {
  assert(dynamic_cast<CudaPanel*>(a.panel) != nullptr && "a panel of this back-end");
  const auto& panel = static_cast<const CudaPanel&>(*a.panel);
  return {panel.address() + a.first * panel.value_bytes(), static_cast<int>(panel.columns()), static_cast<int>(panel.rows()),
          static_cast<int>(a.count)};
}

inline bool is_wide(Columns a) { return traits(a.precision()).wide_panels; }

}  // namespace fd::cuda
