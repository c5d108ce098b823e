// The back-end for NVIDIA GPUs, Ampere and newer: one device. Error(device) where there is no driver, no such device, or none of the kernels suits it.
#pragma once

#include <memory>

#include "device/backend.hpp"
#include "device/devices.hpp"

namespace fd {

// device: its number, or -1 for the first that works
std::unique_ptr<Backend> make_cuda_backend(int device);
std::vector<DeviceFacts> cuda_devices();

}  // namespace fd
