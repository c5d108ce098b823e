// The solver's only linear algebra: a back-end's tall-block verbs, with inner products summed over all ranks.
#pragma once

#include <memory>

#include "device/backend.hpp"
#include "device/comm.hpp"

namespace fd {

class Space {
 public:
  Space(Backend& backend, Precision precision, Comm& comm) : backend_(backend), precision_(precision), comm_(comm) {}

  Backend& backend() { return backend_; }
  Precision precision() const { return precision_; }
  std::unique_ptr<Panel> panel(std::size_t rows, std::size_t columns) { return backend_.panel(rows, columns, precision_); }

  Eigen::MatrixXd gram(Columns a, Columns b) {
    Eigen::MatrixXd g = backend_.gram(a, b);
    comm_.sum(g.data(), static_cast<std::size_t>(g.size()));
    return g;
  }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate = false) { backend_.combine(a, s, y, accumulate); }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) {
    backend_.randomize(a, seed + static_cast<std::uint64_t>(comm_.rank()) * 0x9E3779B97F4A7C15u, stream);
  }

 private:
  Backend& backend_;
  Precision precision_;
  Comm& comm_;
};

}  // namespace fd
