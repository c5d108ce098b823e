// What a careful user gets from BLAS: symmetric blocks of the kernel by sgemm (the norms ride along as two more coordinates), our own
// exp2 on the block while it is in cache, then two more products. OpenBLAS is opened at run time, where it is installed; the program
// does not depend on it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/team.hpp"
#include "bench/machine_limit.hpp"
#include "device/task_times.hpp"

namespace fd::cli {

class BlasPeer {
 public:
  explicit BlasPeer(const std::string& isa);
  bool available() const { return sgemm_ != nullptr; }

  // x: n × dimension, already scaled by sqrt(2 beta log2 e); w: n × columns. Returns y = K w, n × columns, diagonal included.
  std::vector<float> product(const std::vector<float>& x, std::size_t n, std::size_t dimension, const std::vector<float>& w,
                             std::size_t columns, Team& team, TaskTimes& times) const;

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  using Sgemv = void (*)(int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  Sgemm sgemm_ = nullptr;
  Sgemv sgemv_ = nullptr;
  Exp2Array exp2_;
};

}  // namespace fd::cli
