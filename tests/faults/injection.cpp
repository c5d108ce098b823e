#include "faults/injection.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace fd::faults {

Countdown allocations, writes, threads;
std::atomic<bool> short_writes{false};
std::function<std::unique_ptr<Backend>(std::unique_ptr<Backend>)> decorate_backend;
std::atomic<long>& live_objects() {
  static std::atomic<long> count{0};
  return count;
}

namespace {

bool disk_is_full(int file) {
  if (file <= STDERR_FILENO || !writes.due()) return false;
  errno = ENOSPC;
  return true;
}

std::size_t portion(int file, std::size_t count) { return file > STDERR_FILENO && short_writes && count > 1 ? count / 2 : count; }

}  // namespace
}  // namespace fd::faults

using namespace fd::faults;

// Memory. --wrap sends the library's calls of malloc here; those that operator new makes below go past the count.
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_malloc(std::size_t size) { return allocations.due() ? nullptr : __real_malloc(size); }
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return allocations.due() ? nullptr : __real_aligned_alloc(alignment, size);
}
}

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  void* memory = nullptr;
  if (!allocations.due())
    memory = alignment == 0 ? __real_malloc(size > 0 ? size : 1)
                            : __real_aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  ++live_objects();
  return memory;
}
void release(void* memory) {
  if (memory == nullptr) return;
  --live_objects();
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, static_cast<std::size_t>(alignment)); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

// Files and threads: functions of the system's names in the program come before those of the C library, for libhdf5 and libstdc++ too.
extern "C" {
ssize_t write(int file, const void* data, std::size_t count) {
  return disk_is_full(file) ? -1 : syscall(SYS_write, file, data, portion(file, count));
}
ssize_t pwrite(int file, const void* data, std::size_t count, off_t offset) {
  return disk_is_full(file) ? -1 : syscall(SYS_pwrite64, file, data, portion(file, count), offset);
}
ssize_t pwrite64(int file, const void* data, std::size_t count, off64_t offset) { return pwrite(file, data, count, offset); }
int ftruncate(int file, off_t length) noexcept {
  return disk_is_full(file) ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, length));
}
int ftruncate64(int file, off64_t length) noexcept { return ftruncate(file, length); }
int fallocate(int file, int mode, off_t offset, off_t length) {
  return disk_is_full(file) ? -1 : static_cast<int>(syscall(SYS_fallocate, file, mode, offset, length));
}
int fallocate64(int file, int mode, off64_t offset, off64_t length) { return fallocate(file, mode, offset, length); }
int fsync(int file) { return disk_is_full(file) ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }
int rename(const char* from, const char* to) noexcept {
  if (writes.due()) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return threads.due() ? EAGAIN : real(thread, attributes, start, argument);
}
}

// Back-ends: --wrap by the name that the compiler gives fd::make_backend.
std::unique_ptr<fd::Backend> real_make_backend(const fd::BackendRequest& request) asm(
    "__real__ZN2fd12make_backendERKNS_14BackendRequestE");
std::unique_ptr<fd::Backend> wrapped_make_backend(const fd::BackendRequest& request) asm(
    "__wrap__ZN2fd12make_backendERKNS_14BackendRequestE");
std::unique_ptr<fd::Backend> wrapped_make_backend(const fd::BackendRequest& request) {
  auto backend = real_make_backend(request);
  return decorate_backend ? decorate_backend(std::move(backend)) : std::move(backend);
}
