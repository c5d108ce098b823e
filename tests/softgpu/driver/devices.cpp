// Initialisation, devices, contexts, errors.
#include <cstdio>
#include <cstring>

#include "driver/api.hpp"

namespace softgpu {

thread_local Context* current = nullptr;

Error enter(Machine& m, const char* name) {
  if (++m.calls != m.environment.fail) return Error::none;
  if (m.environment.fail_code) return static_cast<Error>(m.environment.fail_code);
  const std::string n = name;
  return n.find("Alloc") != std::string::npos    ? Error::out_of_memory
         : n.find("Launch") != std::string::npos ? Error::launch_out_of_resources
                                                 : Error::unknown;
}

int multiprocessor_count() { return Machine::get().environment.multiprocessors; }

namespace {

struct Sizes {
  int shared_sm, shared_block, threads_sm, blocks_sm;
};
Sizes sizes_of(int sm) {
  if (sm >= 120) return {102400, 101376, 1536, 24};
  if (sm >= 90) return {233472, 232448, 2048, 32};
  if (sm == 86 || sm == 89) return {102400, 101376, 1536, 16};
  return {167936, 166912, 2048, 32};
}

const char* error_name(int code) {
  switch (static_cast<Error>(code)) {
    case Error::none: return "CUDA_SUCCESS";
    case Error::invalid_value: return "CUDA_ERROR_INVALID_VALUE";
    case Error::out_of_memory: return "CUDA_ERROR_OUT_OF_MEMORY";
    case Error::not_initialized: return "CUDA_ERROR_NOT_INITIALIZED";
    case Error::stub_library: return "CUDA_ERROR_STUB_LIBRARY";
    case Error::no_device: return "CUDA_ERROR_NO_DEVICE";
    case Error::invalid_device: return "CUDA_ERROR_INVALID_DEVICE";
    case Error::invalid_context: return "CUDA_ERROR_INVALID_CONTEXT";
    case Error::no_binary_for_gpu: return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case Error::invalid_ptx: return "CUDA_ERROR_INVALID_PTX";
    case Error::unsupported_ptx_version: return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
    case Error::invalid_handle: return "CUDA_ERROR_INVALID_HANDLE";
    case Error::not_found: return "CUDA_ERROR_NOT_FOUND";
    case Error::not_ready: return "CUDA_ERROR_NOT_READY";
    case Error::illegal_address: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case Error::launch_out_of_resources: return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    case Error::launch_timeout: return "CUDA_ERROR_LAUNCH_TIMEOUT";
    case Error::peer_access_unsupported: return "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED";
    case Error::peer_access_already_enabled: return "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED";
    case Error::launch_failed: return "CUDA_ERROR_LAUNCH_FAILED";
    case Error::not_supported: return "CUDA_ERROR_NOT_SUPPORTED";
    case Error::unknown: return "CUDA_ERROR_UNKNOWN";
  }
  return nullptr;
}

Error device_attribute(const Environment& e, int attribute, int device, int* v) {
  const Sizes s = sizes_of(e.sm);
  switch (attribute) {
    case 1: *v = 1024; break;  // threads a block
    case 2:
    case 3: *v = 1024; break;        // block, x and y
    case 4: *v = 64; break;          // block, z
    case 5: *v = 0x7fffffff; break;  // grid, x
    case 6:
    case 7: *v = 65535; break;        // grid, y and z
    case 8: *v = 49152; break;        // shared memory a block
    case 9: *v = 65536; break;        // constant memory
    case 10: *v = 32; break;          // warp
    case 11: *v = 0x7fffffff; break;  // pitch
    case 12:
    case 82: *v = 65536; break;    // registers
    case 13: *v = 1410000; break;  // kHz
    case 14: *v = 512; break;      // texture alignment
    case 16: *v = multiprocessor_count(); break;
    case 17:
    case 18:
    case 20:
    case 32: *v = 0; break;  // kernel timeout, integrated, compute mode, ECC
    case 15:
    case 19:
    case 31:
    case 41: *v = 1; break;           // overlap, mapped host memory, concurrent kernels, unified addresses
    case 33: *v = device + 1; break;  // PCI bus
    case 34:
    case 50: *v = 0; break;         // PCI device and domain
    case 36: *v = 1215000; break;   // memory kHz
    case 37: *v = 5120; break;      // memory bus
    case 38: *v = 40 << 20; break;  // second-level cache
    case 39: *v = s.threads_sm; break;
    case 40: *v = 2; break;  // copy engines
    case 75: *v = e.sm / 10; break;
    case 76: *v = e.sm % 10; break;
    case 81: *v = s.shared_sm; break;
    case 83:
    case 88:
    case 95: *v = 0; break;  // managed memory, pageable access, cooperative launch
    case 97: *v = s.shared_block; break;
    case 106: *v = s.blocks_sm; break;
    case 111: *v = 1024; break;  // shared memory the system takes of a block
    case 115: *v = 0; break;     // memory pools
    default: return Error::invalid_value;
  }
  return Error::none;
}

}  // namespace

int most_shared(int sm) { return sizes_of(sm).shared_block; }
int resident_blocks(int sm, u32 threads, u64 shared) {
  const Sizes s = sizes_of(sm);
  const u64 warps = (threads + 31) / 32 * 32;
  return static_cast<int>(std::min<u64>({static_cast<u64>(s.blocks_sm), static_cast<u64>(s.threads_sm) / std::max<u64>(warps, 1),
                                         static_cast<u64>(s.shared_sm) / (shared + 1024)}));
}

}  // namespace softgpu

using namespace softgpu;

FD_EXPORT Result cuInit(unsigned) {
  return api("cuInit", Needs::nothing, [](Machine& m, Lock&) {
    if (m.environment.init) return static_cast<Error>(m.environment.init);
    if (m.environment.devices < 1) return Error::no_device;
    m.initialized = true;
    return Error::none;
  });
}
FD_EXPORT Result cuDriverGetVersion(int* v) {
  return api("cuDriverGetVersion", Needs::nothing, [=](Machine& m, Lock&) {
    *v = m.environment.driver_version;
    return Error::none;
  });
}
FD_EXPORT Result cuGetErrorName(Result r, const char** s) {
  *s = error_name(r);
  return *s ? 0 : 1;
}
FD_EXPORT Result cuGetErrorString(Result r, const char** s) {
  *s = error_name(r);
  if (r == 0) *s = "no error";
  if (r == static_cast<int>(Error::illegal_address))
    *s = "a kernel or a copy used a wrong address; the software GPU said which on standard error";
  if (r == static_cast<int>(Error::launch_failed))
    *s = "a kernel or a copy was wrong; the software GPU said how on standard error";
  return *s ? 0 : 1;
}
FD_EXPORT Result cuDeviceGetCount(int* n) {
  return api("cuDeviceGetCount", Needs::driver, [=](Machine& m, Lock&) {
    *n = m.environment.devices;
    return Error::none;
  });
}
FD_EXPORT Result cuDeviceGet(int* device, int ordinal) {
  return api("cuDeviceGet", Needs::driver, [=](Machine& m, Lock&) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < m.environment.devices ? Error::none : Error::invalid_device;
  });
}

namespace {
template <class F>
Result of_device(const char* name, int device, F f) {
  return api(name, Needs::driver, [&](Machine& m, Lock& lock) {
    return device >= 0 && device < m.environment.devices ? f(m, lock) : Error::invalid_device;
  });
}
}  // namespace

FD_EXPORT Result cuDeviceGetName(char* s, int n, int device) {
  return of_device("cuDeviceGetName", device, [=](Machine&, Lock&) {
    std::snprintf(s, static_cast<std::size_t>(std::max(n, 0)), "software GPU %d", device);
    return Error::none;
  });
}
FD_EXPORT Result cuDeviceGetUuid(void* uuid, int device) {
  return of_device("cuDeviceGetUuid", device, [=](Machine&, Lock&) {
    std::memset(uuid, 0x50 + device, 16);
    return Error::none;
  });
}
FD_ALIAS(Result, cuDeviceGetUuid_v2, cuDeviceGetUuid, void*, int);
FD_EXPORT Result cuDeviceGetPCIBusId(char* s, int n, int device) {
  return of_device("cuDeviceGetPCIBusId", device, [=](Machine&, Lock&) {
    std::snprintf(s, static_cast<std::size_t>(std::max(n, 0)), "0000:%02x:00.0", device + 1);
    return Error::none;
  });
}
FD_EXPORT Result cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return of_device("cuDeviceTotalMem", device, [=](Machine& m, Lock&) {
    *bytes = m.environment.memory;
    return Error::none;
  });
}
FD_ALIAS(Result, cuDeviceTotalMem, cuDeviceTotalMem_v2, std::size_t*, int);
FD_EXPORT Result cuDeviceGetAttribute(int* v, int attribute, int device) {
  return of_device("cuDeviceGetAttribute", device,
                   [=](Machine& m, Lock&) { return device_attribute(m.environment, attribute, device, v); });
}
FD_EXPORT Result cuDeviceCanAccessPeer(int* yes, int a, int b) {
  return of_device("cuDeviceCanAccessPeer", a, [=](Machine& m, Lock&) {
    *yes = a != b && m.environment.peers;
    return b >= 0 && b < m.environment.devices ? Error::none : Error::invalid_device;
  });
}
FD_EXPORT Result cuDevicePrimaryCtxRetain(Context** c, int device) {
  return of_device("cuDevicePrimaryCtxRetain", device, [=](Machine& m, Lock&) {
    *c = m.contexts[static_cast<std::size_t>(device)].get();
    ++(*c)->references;
    return Error::none;
  });
}
FD_EXPORT Result cuDevicePrimaryCtxRelease_v2(int device) {
  Machine& m = Machine::get();
  Lock lock(m.mutex);
  const Error injected = enter(m, "cuDevicePrimaryCtxRelease");
  if (device < 0 || device >= m.environment.devices) return static_cast<Result>(Error::invalid_device);
  Context& c = *m.contexts[static_cast<std::size_t>(device)];
  if (c.references == 0) return static_cast<Result>(Error::invalid_context);
  if (--c.references == 0) m.end(lock, c);
  return static_cast<Result>(injected);
}
FD_ALIAS(Result, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, int);
FD_EXPORT Result cuCtxSetCurrent(Context* c) {
  return api("cuCtxSetCurrent", Needs::driver, [=](Machine&, Lock&) {
    current = c;
    return Error::none;
  });
}
FD_EXPORT Result cuCtxGetCurrent(Context** c) {
  return api("cuCtxGetCurrent", Needs::driver, [=](Machine&, Lock&) {
    *c = current;
    return Error::none;
  });
}
FD_EXPORT Result cuCtxGetDevice(int* device) {
  return api("cuCtxGetDevice", Needs::context, [=](Machine&, Lock&) {
    *device = current->device;
    return Error::none;
  });
}
FD_EXPORT Result cuCtxSynchronize() {
  return api("cuCtxSynchronize", Needs::context, [](Machine& m, Lock& lock) { return m.synchronize(lock, *current); });
}
FD_EXPORT Result cuCtxEnablePeerAccess(Context* c, unsigned) {
  return api("cuCtxEnablePeerAccess", Needs::context, [=](Machine& m, Lock&) {
    if (!c || c == current) return Error::invalid_context;
    if (!m.environment.peers) return Error::peer_access_unsupported;
    if (current->peers >> c->device & 1) return Error::peer_access_already_enabled;
    current->peers |= 1u << c->device;
    return Error::none;
  });
}
FD_EXPORT Result cuCtxDisablePeerAccess(Context* c) {
  return api("cuCtxDisablePeerAccess", Needs::broken_too, [=](Machine&, Lock&) {
    current->peers &= ~(1u << c->device);
    return Error::none;
  });
}

// Not NVIDIA's: forgets everything and reads the environment again, so that one process can test several machines.
FD_EXPORT void fd_softgpu_reset() {
  Machine::get().write_files();
  Machine::get().reset();
  current = nullptr;
}
// Nor this: operations that are queued and not done, of all streams. They run as late as the host lets them.
FD_EXPORT unsigned long long fd_softgpu_pending() {
  Machine& m = Machine::get();
  const Lock lock(m.mutex);
  return m.pending();
}
