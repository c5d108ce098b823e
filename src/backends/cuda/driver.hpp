// The CUDA driver, opened when it is first asked for: no program needs it to start. One table of functions, every call checked; what fails throws
// Error(device) that names the device, the call and what to do (memory where that is what was short).
//
// The library is `libcuda.so.1` wherever the loader finds it, or what FLASHDIFFUSION_CUDA_DRIVER names. No header of the toolkit is needed: the few
// types below are part of the driver's binary interface. Does not know: contexts, buffers, kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fd::cuda {

using Result = int;  // CUresult
using DeviceNumber = int;
using Pointer = std::uint64_t;  // CUdeviceptr
struct ContextRecord;
struct StreamRecord;
struct EventRecord;
struct ModuleRecord;
struct FunctionRecord;
using Context = ContextRecord*;
using StreamHandle = StreamRecord*;
using EventHandle = EventRecord*;
using ModuleHandle = ModuleRecord*;
using FunctionHandle = FunctionRecord*;

// name in the library, name here, arguments
#define FD_CUDA_FUNCTIONS(F)                                                                                              \
  F(cuInit, init, (unsigned))                                                                                             \
  F(cuDriverGetVersion, driver_version, (int*))                                                                           \
  F(cuDeviceGetCount, device_count, (int*))                                                                               \
  F(cuDeviceGet, device_get, (DeviceNumber*, int))                                                                        \
  F(cuDeviceGetName, device_name, (char*, int, DeviceNumber))                                                             \
  F(cuDeviceGetAttribute, device_attribute, (int*, int, DeviceNumber))                                                    \
  F(cuDeviceTotalMem_v2, device_memory, (std::size_t*, DeviceNumber))                                                     \
  F(cuDevicePrimaryCtxRetain, retain_context, (Context*, DeviceNumber))                                                   \
  F(cuDevicePrimaryCtxRelease_v2, release_context, (DeviceNumber))                                                        \
  F(cuCtxSetCurrent, set_current, (Context))                                                                              \
  F(cuMemAlloc_v2, allocate, (Pointer*, std::size_t))                                                                     \
  F(cuMemFree_v2, free, (Pointer))                                                                                        \
  F(cuMemHostAlloc, allocate_host, (void**, std::size_t, unsigned))                                                       \
  F(cuMemFreeHost, free_host, (void*))                                                                                    \
  F(cuMemcpyHtoDAsync_v2, copy_to_device, (Pointer, const void*, std::size_t, StreamHandle))                              \
  F(cuMemcpyDtoHAsync_v2, copy_to_host, (void*, Pointer, std::size_t, StreamHandle))                                      \
  F(cuMemcpyDtoDAsync_v2, copy_on_device, (Pointer, Pointer, std::size_t, StreamHandle))                                  \
  F(cuDeviceCanAccessPeer, can_access_peer, (int*, DeviceNumber, DeviceNumber))                                           \
  F(cuCtxEnablePeerAccess, enable_peer_access, (Context, unsigned))                                                       \
  F(cuMemcpyPeerAsync, copy_from_peer, (Pointer, Context, Pointer, Context, std::size_t, StreamHandle))                   \
  F(cuMemsetD32Async, fill, (Pointer, unsigned, std::size_t, StreamHandle))                                               \
  F(cuStreamCreate, create_stream, (StreamHandle*, unsigned))                                                             \
  F(cuStreamDestroy_v2, destroy_stream, (StreamHandle))                                                                   \
  F(cuStreamSynchronize, synchronize, (StreamHandle))                                                                     \
  F(cuEventCreate, create_event, (EventHandle*, unsigned))                                                                \
  F(cuEventDestroy_v2, destroy_event, (EventHandle))                                                                      \
  F(cuEventRecord, record_event, (EventHandle, StreamHandle))                                                             \
  F(cuStreamWaitEvent, stream_wait, (StreamHandle, EventHandle, unsigned))                                                \
  F(cuEventSynchronize, wait_for_event, (EventHandle))                                                                    \
  F(cuModuleLoadData, load_module, (ModuleHandle*, const void*))                                                          \
  F(cuModuleUnload, unload_module, (ModuleHandle))                                                                        \
  F(cuModuleGetFunction, get_function, (FunctionHandle*, ModuleHandle, const char*))                                      \
  F(cuFuncSetAttribute, set_function_attribute, (FunctionHandle, int, int))                                               \
  F(cuLaunchKernel, launch,                                                                                               \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, void**, void**)) \
  F(cuGetErrorName, error_name, (Result, const char**))                                                                   \
  F(cuGetErrorString, error_string, (Result, const char**))

class Driver {
 public:
  // Opened and started, or Error(device) that says in one line why there is none.
  static const Driver& get();

#define FD_CUDA_MEMBER(SYMBOL, NAME, ARGUMENTS) Result(*NAME) ARGUMENTS = nullptr;
  FD_CUDA_FUNCTIONS(FD_CUDA_MEMBER)
#undef FD_CUDA_MEMBER

  int version() const { return version_; }  // of CUDA that the driver speaks, 1000 major + 10 minor
  std::string version_text() const;

  // Throws where the result is not 0. `what`: the driver's name of the call; `device`: whom it was for.
  void check(Result result, const char* what, const std::string& device) const;
  std::string text(Result result) const;

  static constexpr Result out_of_memory = 2;

 private:
  Driver();
  int version_ = 0;
};

}  // namespace fd::cuda
