#include "backends/cuda/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include <flashdiffusion/error.hpp>

#include "device/passed_over.hpp"

namespace fd::cuda {
namespace {

constexpr int oldest_driver = 11040;  // what the functions above came with, and a margin
constexpr Result stub_library = 34, no_device = 100;
constexpr const char* hint = "use --backend cpu, or see docs/gpu.md";

std::string version_name(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

}  // namespace

const Driver& Driver::get() {
  // Not kept where it failed: a process may ask again, and must get the same answer, not a half-made table.
  static std::mutex mutex;
  static const Driver* driver = nullptr;
  const std::lock_guard lock(mutex);
  if (driver == nullptr) driver = new Driver();  // never taken down: the library it calls must not be either
  return *driver;
}

Driver::Driver() {
  const char* named = std::getenv("FLASHDIFFUSION_CUDA_DRIVER");
  const char* name = named != nullptr && *named != '\0' ? named : "libcuda.so.1";
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw NoDevice("no CUDA driver: " + std::string(why != nullptr ? why : name), hint);
  }
#define FD_CUDA_LOAD(SYMBOL, NAME, ARGUMENTS)                                                 \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #SYMBOL));                           \
  if (NAME == nullptr)                                                                        \
    throw Error(Failure::device, "the CUDA driver " + std::string(name) + " has no " #SYMBOL, \
                "update the driver, or use --backend cpu");
  FD_CUDA_FUNCTIONS(FD_CUDA_LOAD)
#undef FD_CUDA_LOAD
  if (const Result result = init(0); result != 0) {
    const std::string what = "the CUDA driver does not start: " + text(result);
    if (result == no_device || result == stub_library) throw NoDevice(what, hint);
    throw Error(Failure::device, what, hint);
  }
  if (const Result result = driver_version(&version_); result != 0)
    throw Error(Failure::device, "the CUDA driver does not say its version: " + text(result), hint);
  if (version_ < oldest_driver)
    throw Error(Failure::device, "the CUDA driver is too old: it speaks CUDA " + version_text(),
                "update the driver, or use --backend cpu");
}

std::string Driver::version_text() const { return version_name(version_); }

std::string Driver::text(Result result) const {
  const char *name = nullptr, *words = nullptr;
  if (error_name == nullptr || error_name(result, &name) != 0 || name == nullptr) return "error " + std::to_string(result);
  if (error_string(result, &words) != 0 || words == nullptr) return name;
  return std::string(words) + " (" + name + ")";
}

void Driver::check(Result result, const char* what, const std::string& device) const {
  if (result == 0) return;
  if (result == out_of_memory)
    throw Error(Failure::memory, device + " has not enough memory (" + what + ")", "use fewer points or modes, or --backend cpu");
  throw Error(Failure::device, device + " failed: " + what + ": " + text(result),
              "`flashdiffusion selftest` examines the device; --backend cpu does without");
}

}  // namespace fd::cuda
