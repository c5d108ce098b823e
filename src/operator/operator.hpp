// A symmetric linear operator, known only by what it does to a block of vectors.
#pragma once

#include <cstddef>

#include "base/archive.hpp"
#include "device/panel.hpp"

namespace fd {

class Operator {
 public:
  virtual ~Operator() = default;
  virtual const SharedLayout& layout() const = 0;  // of the vectors it takes
  std::size_t size() const { return layout()->rows(); }
  // Random directions lose what A leaves at zero: rows set aside.
  virtual void restrict([[maybe_unused]] Columns directions) {}
  virtual void apply(Columns in, Columns out) = 0;  // out = A in; symmetric by contract; in and out do not overlap
  // The same, where an error of up to `permitted` times the length of a vector does no harm and there is something cheaper that keeps
  // to it; with nothing permitted, `apply`. Returns how large the error may be: zero where it is none but rounding.
  virtual double apply_low_precision(Columns in, Columns out, [[maybe_unused]] double permitted) {
    apply(in, out);
    return 0;
  }
  // What changes from application to application, for a solve that is to be gone on with later.
  virtual void archive_progress([[maybe_unused]] Archive& archive) {}
};

}  // namespace fd
