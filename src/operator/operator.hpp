// A symmetric linear operator, known only by what it does to a block of vectors.
#pragma once

#include <cstddef>

#include "device/panel.hpp"

namespace fd {

class Operator {
 public:
  virtual ~Operator() = default;
  virtual std::size_t size() const = 0;  // of the whole, over all ranks
  virtual std::size_t local_rows() const { return size(); }
  virtual void apply(Columns in, Columns out) = 0;  // out = A in; symmetric by contract; in and out do not overlap
};

}  // namespace fd
