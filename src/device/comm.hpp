// Ranks that share one problem, each with its own rows. A single process is a ring of length one.
#pragma once

#include <cstddef>

namespace fd {

class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  virtual void sum(double* /*values*/, std::size_t /*count*/) {}  // in place, over all ranks, the same bits on each
};

}  // namespace fd
