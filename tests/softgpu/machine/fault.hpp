// What the machine finds wrong, and where such findings go.
//
// A `Fault` ends the operation it occurs in. `report` writes one line to standard error and, with FD_SOFTGPU_REPORT, to a file.
#pragma once
#include <stdexcept>
#include <string>

namespace softgpu {

enum class Error : int {  // the driver's codes
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  stub_library = 34,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  no_binary_for_gpu = 209,
  peer_access_unsupported = 217,
  invalid_ptx = 218,
  unsupported_ptx_version = 222,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  launch_failed = 719,
  not_supported = 801,
  unknown = 999
};

struct Fault : std::runtime_error {
  Fault(Error c, const std::string& what) : std::runtime_error(what), code(c) {}
  Error code;
};

void report(const std::string& what);

}  // namespace softgpu
