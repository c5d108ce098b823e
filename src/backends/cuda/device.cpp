#include "backends/cuda/device.hpp"

#include <algorithm>
#include <optional>

#include <flashdiffusion/error.hpp>

#include "backends/cuda/kernel_images.hpp"
#include "device/passed_over.hpp"

namespace fd::cuda {
namespace {

// CUdevice_attribute, CUfunction_attribute and flags, as the driver's binary interface numbers them
constexpr int clock_kilohertz = 13, multiprocessor_count = 16, capability_major = 75, capability_minor = 76,
              most_shared_bytes = 8;
constexpr unsigned non_blocking_stream = 1, event_without_time_that_blocks = 3, portable_host_memory = 1;
constexpr unsigned shared_bytes_without_asking = 48 * 1024;
constexpr int oldest_capability = 80;

int count_devices(const Driver& driver) {
  int count = 0;
  driver.check(driver.device_count(&count), "cuDeviceGetCount", "the CUDA driver");
  if (count <= 0) throw NoDevice("the CUDA driver knows no device", "use --backend cpu, or see docs/gpu.md");
  return count;
}

}  // namespace

std::vector<DeviceFacts> Device::all() {
  const Driver& driver = Driver::get();
  std::vector<DeviceFacts> found;
  for (int number = 0, count = count_devices(driver); number < count; ++number) found.push_back(Device(driver, number).ask());
  return found;
}

std::unique_ptr<Device> Device::open(int wanted) {
  const Driver& driver = Driver::get();
  const int count = count_devices(driver);
  if (wanted >= count)
    throw Error(Failure::device, "there is no GPU " + std::to_string(wanted) + ": the CUDA driver knows " + std::to_string(count),
                "count from 0");
  std::optional<Error> first;
  for (int number = wanted < 0 ? 0 : wanted; number < (wanted < 0 ? count : wanted + 1); ++number) {
    try {
      std::unique_ptr<Device> device(new Device(driver, number));
      device->start();
      return device;
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  throw Error(*first);
}

Device::Device(const Driver& driver, int number) : driver_(driver), number_(number), name_("GPU " + std::to_string(number)) {}

DeviceFacts Device::ask() {
  check(driver_.device_get(&device_, number_), "cuDeviceGet");
  char text[256] = {};
  check(driver_.device_name(text, sizeof text - 1, device_), "cuDeviceGetName");
  const auto attribute = [&](int which) {
    int value = 0;
    check(driver_.device_attribute(&value, which, device_), "cuDeviceGetAttribute");
    return value;
  };
  DeviceFacts facts;
  facts.number = number_;
  facts.name = text;
  facts.capability = 10 * attribute(capability_major) + attribute(capability_minor);
  facts.multiprocessors = attribute(multiprocessor_count);
  if (int clock = 0; driver_.device_attribute(&clock, clock_kilohertz, device_) == 0) facts.hertz = 1e3 * clock;
  return facts;
}

void Device::start() {
  const DeviceFacts facts = ask();
  name_ += ", " + facts.name;
  capability_ = facts.capability;
  multiprocessors_ = facts.multiprocessors;
  check(driver_.device_memory(&memory_, device_), "cuDeviceTotalMem");
  if (capability_ < oldest_capability)
    throw Error(Failure::device,
                name_ + " is of compute capability " + std::to_string(capability_ / 10) + "." + std::to_string(capability_ % 10),
                "8.0 or newer (Ampere) is needed; use --backend cpu");
  check(driver_.retain_context(&context_, device_), "cuDevicePrimaryCtxRetain");
  use();
  check(driver_.create_stream(&stream_, non_blocking_stream), "cuStreamCreate");
  load_kernels();
}

// The image made for this very chip, else the PTX of the newest chip that is not newer, which the driver compiles.
void Device::load_kernels() {
  for (const KernelFile& file : kernel_files()) {
    Result last = 0;
    ModuleHandle module = nullptr;
    for (const bool compiled : {true, false}) {
      const KernelImage* best = nullptr;
      for (const KernelImage& image : file.images)
        if (image.compiled == compiled && (compiled ? image.capability / 10 == capability_ / 10 && image.capability <= capability_
                                                    : image.capability <= capability_))
          if (best == nullptr || image.capability > best->capability) best = &image;
      if (best == nullptr) continue;
      last = driver_.load_module(&module, best->data);
      if (last == Driver::out_of_memory) check(last, "cuModuleLoadData");
      if (last == 0) break;
      module = nullptr;
    }
    if (module == nullptr)
      throw Error(Failure::device,
                  name_ + " takes none of the kernels of this build (" + file.name +
                      "): " + (last != 0 ? driver_.text(last) : "none is for it") + "; its driver speaks CUDA " +
                      driver_.version_text() + ", they were built with " + kernel_compiler(),
                  "update the driver, or build with an older nvcc; --backend cpu does without");
    modules_.push_back(module);
  }
}

Device::~Device() {
  drain();
  if (context_ != nullptr) driver_.set_current(context_);
  for (ModuleHandle module : modules_) driver_.unload_module(module);
  if (copies_ != nullptr) driver_.destroy_stream(copies_);
  if (stream_ != nullptr) driver_.destroy_stream(stream_);
  if (context_ != nullptr) driver_.release_context(device_);
}

void Device::drain() const noexcept {
  if (context_ == nullptr || stream_ == nullptr) return;
  driver_.set_current(context_);
  if (copying_) driver_.synchronize(copies_);
  if (busy_) driver_.synchronize(stream_);
  busy_ = copying_ = false;
}

// Memory of a device that cannot be reached is copied all the same: the driver takes it through the host.
void Device::fetch(Pointer to, const Device& from, Pointer address, std::size_t bytes, EventHandle ready, Event& arrived) const {
  if (copies_ == nullptr) check(driver_.create_stream(&copies_, non_blocking_stream), "cuStreamCreate");
  const bool here = from.context_ == context_;
  if (!here && std::find(known_.begin(), known_.end(), &from) == known_.end()) {
    int reaches = 0;
    if (driver_.can_access_peer(&reaches, device_, from.device_) == 0 && reaches != 0)
      driver_.enable_peer_access(from.context_, 0);  // a refusal costs time alone; it may have been enabled already
    known_.push_back(&from);
  }
  if (ready != nullptr) check(driver_.stream_wait(copies_, ready, 0), "cuStreamWaitEvent");
  copying_ = true;
  if (here) check(driver_.copy_on_device(to, address, bytes, copies_), "cuMemcpyDtoDAsync");
  else check(driver_.copy_from_peer(to, context_, address, from.context_, bytes, copies_), "cuMemcpyPeerAsync");
  arrived.record(*this, copies_);
}

void Device::launch_pointers(const char* name, Grid grid, void** arguments) {
  auto known = kernels_.find(name);
  if (known == kernels_.end()) {
    Kernel kernel;
    Result last = 1;
    for (std::size_t m = 0; m < modules_.size() && kernel.handle == nullptr; ++m) {
      last = driver_.get_function(&kernel.handle, modules_[m], name);
      if (last != 0) kernel.handle = nullptr;
    }
    if (kernel.handle == nullptr) check(last, "cuModuleGetFunction");
    known = kernels_.emplace(name, kernel).first;
  }
  Kernel& kernel = known->second;
  if (grid.shared_bytes > shared_bytes_without_asking && grid.shared_bytes > kernel.shared_bytes) {
    check(driver_.set_function_attribute(kernel.handle, most_shared_bytes, static_cast<int>(grid.shared_bytes)),
          "cuFuncSetAttribute");
    kernel.shared_bytes = grid.shared_bytes;
  }
  busy_ = true;
  check(driver_.launch(kernel.handle, grid.x, grid.y, grid.z, grid.threads, 1, 1, grid.shared_bytes, stream_, arguments, nullptr),
        "cuLaunchKernel");
}

void Buffer::at_least(const Device& device, std::size_t bytes) {
  if (bytes <= bytes_) return;
  release();
  device.use();
  device.check(device.driver().allocate(&address_, bytes), "cuMemAlloc");
  device_ = &device;
  bytes_ = bytes;
}

void Buffer::release() noexcept {
  if (device_ == nullptr) return;
  device_->drain();  // work under way may still use it
  device_->driver().free(address_);
  device_ = nullptr, address_ = 0, bytes_ = 0;
}

double* HostBuffer::at_least(const Device& device, std::size_t values) {
  if (values > values_) {
    release();
    device.use();
    device.check(device.driver().allocate_host(&data_, values * sizeof(double), portable_host_memory), "cuMemHostAlloc");
    device_ = &device;
    values_ = values;
  }
  return static_cast<double*>(data_);
}

void HostBuffer::release() noexcept {
  if (device_ == nullptr) return;
  device_->drain();
  device_->driver().free_host(data_);
  device_ = nullptr, data_ = nullptr, values_ = 0;
}

Event::~Event() {
  if (device_ == nullptr) return;
  device_->drain();
  device_->driver().destroy_event(handle_);
}

void Event::record(const Device& device, StreamHandle stream) {
  if (device_ == nullptr) {
    device.check(device.driver().create_event(&handle_, event_without_time_that_blocks), "cuEventCreate");
    device_ = &device;
  }
  device.check(device.driver().record_event(handle_, stream), "cuEventRecord");
  recorded_ = true;
}

void Event::hold(StreamHandle stream) const {
  if (recorded_) device_->check(device_->driver().stream_wait(stream, handle_, 0), "cuStreamWaitEvent");
}

void Event::wait() const {
  if (recorded_) device_->check(device_->driver().wait_for_event(handle_), "cuEventSynchronize");
}

}  // namespace fd::cuda
