// What a GPU allows a kernel product in fp32 at most, by the counts of bench/gpu_bounds.py, which are made of the shipped machine code and the rates of known
// chips: asked for the multiprocessors and the clock of the device that is here. The script's text is part of this program; the machine code lies beside it.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "common/python_process.hpp"
#include "device/devices.hpp"

namespace fd::cli {

class GpuBound {
 public:
  explicit GpuBound(const std::string& python);  // empty: the first on the path

  // Ordered pairs of points a second, NaN where it is not known and `why` says why. `pipes`: by tensor cores, exponentials and shared memory alone;
  // `issued`: with every instruction of the loops, also those that seldom run.
  struct Rate {
    double pipes = std::numeric_limits<double>::quiet_NaN(), issued = std::numeric_limits<double>::quiet_NaN();
    std::string busiest, why;
  };
  Rate of(const DeviceFacts& device, std::size_t dimension, std::size_t columns);

 private:
  PythonProcess process_;
};

}  // namespace fd::cli
