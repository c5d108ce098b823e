// Memory: allocation, copies, fills.
#include <cstdlib>
#include <cstring>

#include "driver/api.hpp"

using namespace softgpu;

FD_EXPORT Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return api("cuMemGetInfo", Needs::context, [=](Machine& m, Lock&) {
    *total = m.environment.memory;
    *free = *total - m.memory.device(current->device).in_use;
    return Error::none;
  });
}
FD_EXPORT Result cuMemAlloc_v2(DevicePointer* p, std::size_t bytes) {
  return api("cuMemAlloc", Needs::context, [=](Machine& m, Lock& lock) {
    if (bytes == 0) return Error::invalid_value;
    if (bytes > m.environment.memory || m.memory.device(current->device).in_use + bytes > m.environment.memory)
      return Error::out_of_memory;
    m.quiet(lock, 1u << current->device);
    *p = m.memory.allocate(current->device, bytes);
    return Error::none;
  });
}
FD_EXPORT Result cuMemFree_v2(DevicePointer p) {
  return api("cuMemFree", Needs::broken_too, [=](Machine& m, Lock& lock) {
    if (p == 0) return Error::none;
    m.quiet(lock, Memory::bit_of(p));
    const Allocation a = m.memory.take(p);
    if (current->broken != Error::none) return current->broken;
    for (const auto& [actor, step] : a.users)
      if (m.host.of(actor) < step)
        throw Fault(Error::launch_failed, "memory is freed while " + name_of_step(actor, step) + " of stream " +
                                              std::to_string(actor) + " may still use it: the host has not waited for it");
    return Error::none;
  });
}

namespace {
Result pinned(const char* name, void** p, std::size_t bytes) {
  return api(name, Needs::context, [=](Machine& m, Lock&) {
    if (bytes == 0) return Error::invalid_value;
    *p = std::malloc(bytes);
    if (!*p) return Error::out_of_memory;
    std::memset(*p, 0xff, bytes);
    m.memory.map_host(*p, bytes);
    current->pinned[*p] = bytes;
    return Error::none;
  });
}
}  // namespace

FD_EXPORT Result cuMemAllocHost_v2(void** p, std::size_t bytes) { return pinned("cuMemAllocHost", p, bytes); }
FD_EXPORT Result cuMemHostAlloc(void** p, std::size_t bytes, unsigned) { return pinned("cuMemHostAlloc", p, bytes); }
FD_EXPORT Result cuMemFreeHost(void* p) {
  return api("cuMemFreeHost", Needs::broken_too, [=](Machine& m, Lock& lock) {
    m.quiet(lock, ~0u);
    for (auto& c : m.contexts)
      if (const auto it = c->pinned.find(p); it != c->pinned.end()) {
        const u64 bytes = it->second;
        m.memory.unmap_host(p);
        c->pinned.erase(it);
        if (c->broken == Error::none) m.check_unused(p, bytes);
        std::free(p);
        return Error::none;
      }
    return Error::invalid_value;
  });
}
FD_EXPORT Result cuMemHostGetDevicePointer_v2(DevicePointer* d, void* p, unsigned) {
  return api("cuMemHostGetDevicePointer", Needs::context, [=](Machine& m, Lock&) {
    *d = reinterpret_cast<DevicePointer>(p);
    return m.memory.is_mapped(p, 1) ? Error::none : Error::invalid_value;
  });
}

FD_EXPORT Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, Stream* s) {
  return api("cuMemcpyHtoDAsync", Needs::context, [=](Machine& m, Lock& lock) {
    m.copy_from_host(lock, m.stream_of(*current, s), to, from, bytes);
    return Error::none;
  });
}
FD_EXPORT Result cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, Stream* s) {
  return api("cuMemcpyDtoHAsync", Needs::context, [=](Machine& m, Lock& lock) {
    m.copy_to_host(lock, m.stream_of(*current, s), to, from, bytes);
    return Error::none;
  });
}
FD_EXPORT Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  return api("cuMemcpyHtoD", Needs::context, [=](Machine& m, Lock& lock) {
    Stream& s = m.stream_of(*current, nullptr);
    m.copy_from_host(lock, s, to, from, bytes);
    return m.synchronize(lock, s);
  });
}
FD_EXPORT Result cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  return api("cuMemcpyDtoH", Needs::context, [=](Machine& m, Lock& lock) {
    Stream& s = m.stream_of(*current, nullptr);
    m.copy_to_host(lock, s, to, from, bytes);
    return m.synchronize(lock, s);
  });
}

namespace {
Result copy(const char* name, DevicePointer to, DevicePointer from, std::size_t bytes, Stream* s) {
  return api(name, Needs::context, [=](Machine& m, Lock& lock) {
    if (bytes == 0) return Error::none;

    m.push(lock, m.stream_of(*current, s), "a copy between devices", Memory::bit_of(to) | Memory::bit_of(from), false,
           [=, &m](const Step& step) { m.memory.copy(to, from, bytes, step); });
    return Error::none;
  });
}
Result fill(const char* name, DevicePointer to, unsigned v, int width, std::size_t n, Stream* s) {
  return api(name, Needs::context, [=](Machine& m, Lock& lock) {
    if (n == 0) return Error::none;
    if (to % static_cast<unsigned>(width)) return Error::invalid_value;
    m.push(lock, m.stream_of(*current, s), "a memset", Memory::bit_of(to), false,
           [=, &m](const Step& step) { m.memory.fill(to, v, width, n, step); });
    return Error::none;
  });
}
}  // namespace

namespace {
// The contexts that are named must be those of the addresses: a driver without peer access goes by them.
bool named_right(DevicePointer p, const Context* c) { return c && Memory::bit_of(p) == 1u << c->device; }
Result copy_of_peers(const char* name, DevicePointer to, Context* there, DevicePointer from, Context* here, std::size_t bytes,
                     Stream* s) {
  if (named_right(to, there) && named_right(from, here)) return copy(name, to, from, bytes, s);
  return api(name, Needs::context, [](Machine&, Lock&) -> Error {
    throw Fault(Error::invalid_value, "a copy between devices names another context than that of its memory");
  });
}
}  // namespace

FD_EXPORT Result cuMemcpyPeerAsync(DevicePointer to, Context* there, DevicePointer from, Context* here, std::size_t bytes,
                                   Stream* s) {
  return copy_of_peers("cuMemcpyPeerAsync", to, there, from, here, bytes, s);
}
FD_EXPORT Result cuMemcpyPeer(DevicePointer to, Context* there, DevicePointer from, Context* here, std::size_t bytes) {
  return copy_of_peers("cuMemcpyPeer", to, there, from, here, bytes, nullptr);
}
FD_EXPORT Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, Stream* s) {
  return copy("cuMemcpyDtoDAsync", to, from, bytes, s);
}
FD_EXPORT Result cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy("cuMemcpyDtoD", to, from, bytes, nullptr);
}
FD_EXPORT Result cuMemsetD8Async(DevicePointer to, unsigned char v, std::size_t n, Stream* s) {
  return fill("cuMemsetD8Async", to, v, 1, n, s);
}
FD_EXPORT Result cuMemsetD16Async(DevicePointer to, unsigned short v, std::size_t n, Stream* s) {
  return fill("cuMemsetD16Async", to, v, 2, n, s);
}
FD_EXPORT Result cuMemsetD32Async(DevicePointer to, unsigned v, std::size_t n, Stream* s) {
  return fill("cuMemsetD32Async", to, v, 4, n, s);
}
FD_EXPORT Result cuMemsetD8_v2(DevicePointer to, unsigned char v, std::size_t n) {
  return fill("cuMemsetD8", to, v, 1, n, nullptr);
}
FD_EXPORT Result cuMemsetD32_v2(DevicePointer to, unsigned v, std::size_t n) { return fill("cuMemsetD32", to, v, 4, n, nullptr); }

FD_ALIAS(Result, cuMemGetInfo, cuMemGetInfo_v2, std::size_t*, std::size_t*);
FD_ALIAS(Result, cuMemAlloc, cuMemAlloc_v2, DevicePointer*, std::size_t);
FD_ALIAS(Result, cuMemFree, cuMemFree_v2, DevicePointer);
FD_ALIAS(Result, cuMemAllocHost, cuMemAllocHost_v2, void**, std::size_t);
FD_ALIAS(Result, cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, DevicePointer*, void*, unsigned);
FD_ALIAS(Result, cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, DevicePointer, const void*, std::size_t, Stream*);
FD_ALIAS(Result, cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void*, DevicePointer, std::size_t, Stream*);
FD_ALIAS(Result, cuMemcpyHtoD, cuMemcpyHtoD_v2, DevicePointer, const void*, std::size_t);
FD_ALIAS(Result, cuMemcpyDtoH, cuMemcpyDtoH_v2, void*, DevicePointer, std::size_t);
FD_ALIAS(Result, cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, DevicePointer, DevicePointer, std::size_t, Stream*);
FD_ALIAS(Result, cuMemcpyDtoD, cuMemcpyDtoD_v2, DevicePointer, DevicePointer, std::size_t);
FD_ALIAS(Result, cuMemsetD8, cuMemsetD8_v2, DevicePointer, unsigned char, std::size_t);
FD_ALIAS(Result, cuMemsetD32, cuMemsetD32_v2, DevicePointer, unsigned, std::size_t);
