// `flashdiffusion-bench xgemm` on GPUs: the kernel product against what their instructions allow.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fd::cli {

struct DeviceXgemmWish {
  std::string backend, precision, python;
  std::vector<int> devices;  // empty: the first that answers; several share the rows, a rank each
  std::vector<std::size_t> dimensions, blocks, sizes;
  int repeats;
  double seconds;
  bool json;
};

// The exit status: 1 where a product broke its promise.
int run_device_xgemm(const DeviceXgemmWish& wish);

}  // namespace fd::cli
