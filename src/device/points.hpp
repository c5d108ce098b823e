// The observations as a back-end keeps them: packed for one precision, possibly in an order of its own (locality). Panels that
// belong to points follow that order; upload and download translate.
#pragma once

#include <cstddef>

#include <flashdiffusion/precision.hpp>

namespace fd {

class Points {
 public:
  virtual ~Points() = default;
  virtual std::size_t rows() const = 0;
  virtual std::size_t dimension() const = 0;
  virtual Precision precision() const = 0;
};

}  // namespace fd
