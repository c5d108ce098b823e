// The observations as a back-end keeps them: packed for one precision, possibly in an order of its own (locality). Panels that
// belong to points share their layout; upload and download translate.
#pragma once

#include <cstddef>

#include <flashdiffusion/precision.hpp>

#include "device/layout.hpp"

namespace fd {

class Points {
 public:
  virtual ~Points() = default;
  virtual const SharedLayout& layout() const = 0;
  std::size_t rows() const { return layout()->here(); }
  virtual std::size_t dimension() const = 0;
  virtual Precision precision() const = 0;
};

}  // namespace fd
