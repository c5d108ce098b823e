// A GPU as the back-end uses it: its primary context, one stream on which everything happens in order but for copies from other GPUs, which have one of their
// own, kernels by name, and owners of memory and events. Owners give back what they hold without throwing.
//
// A Device may be used from any one thread at a time; `use()` makes it current where it is about to be called.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cuda/driver.hpp"
#include "device/devices.hpp"

namespace fd::cuda {

class Event;

class Device {
 public:
  // Number `wanted`, or the first that works for -1.
  static std::unique_ptr<Device> open(int wanted);
  static std::vector<DeviceFacts> all();  // whether or not they could be opened
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }  // e.g. "GPU 0, NVIDIA A100"
  int capability() const { return capability_; }     // 80, 90, …
  int multiprocessors() const { return multiprocessors_; }
  std::size_t memory() const { return memory_; }
  const Driver& driver() const { return driver_; }
  StreamHandle stream() const { return stream_; }

  void use() const { check(driver_.set_current(context_), "cuCtxSetCurrent"); }
  void check(Result result, const char* what) const { driver_.check(result, what, name_); }
  void synchronize() const {
    check(driver_.synchronize(stream_), "cuStreamSynchronize");
    busy_ = false;
  }
  bool busy() const { return busy_; }  // the stream may have work that nobody has waited for
  void drain() const noexcept;         // makes it current and waits where anything may be under way; does not say what failed

  struct Grid {
    unsigned x = 1, y = 1, z = 1, threads = 256, shared_bytes = 0;
  };
  // `arguments`: the one struct that the kernel takes.
  template <class Arguments>
  void launch(const char* kernel, Grid grid, const Arguments& arguments) {
    void* pointers[] = {const_cast<Arguments*>(&arguments)};
    launch_pointers(kernel, grid, pointers);
  }
  // A thread for each of `count` numbers.
  template <class Arguments>
  void launch_for(const char* kernel, std::size_t count, const Arguments& arguments) {
    constexpr unsigned threads = 256;
    if (count > 0) launch(kernel, {static_cast<unsigned>((count + threads - 1) / threads), 1, 1, threads, 0}, arguments);
  }

  void fill_zero(Pointer to, std::size_t bytes) const {
    busy_ = true;
    if (bytes > 0) check(driver_.fill(to, 0, bytes / 4, stream_), "cuMemsetD32Async");
  }
  void copy_to_device(Pointer to, const void* from, std::size_t bytes) const {
    busy_ = true;
    if (bytes > 0) check(driver_.copy_to_device(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
  }
  void copy_to_host(void* to, Pointer from, std::size_t bytes) const {
    busy_ = true;
    if (bytes > 0) check(driver_.copy_to_host(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
  }
  // Copies from a device of this process, this one or another, beside what the stream does, which must be done with `to`: after the event `ready` there, null
  // if it holds already. `arrived` stands for the end of it.
  void fetch(Pointer to, const Device& from, Pointer address, std::size_t bytes, EventHandle ready, Event& arrived) const;

 private:
  Device(const Driver& driver, int number);
  DeviceFacts ask();  // what it is
  void start();
  void load_kernels();
  void launch_pointers(const char* kernel, Grid grid, void** arguments);
  struct Kernel {
    FunctionHandle handle = nullptr;
    unsigned shared_bytes = 0;  // that it was allowed to have
  };

  const Driver& driver_;
  int number_;
  DeviceNumber device_ = 0;
  std::string name_;
  int capability_ = 0, multiprocessors_ = 0;
  std::size_t memory_ = 0;
  Context context_ = nullptr;
  StreamHandle stream_ = nullptr;
  mutable StreamHandle copies_ = nullptr;     // made with the first copy from a device
  mutable bool busy_ = false;                 // something was queued since the last wait
  mutable bool copying_ = false;              // in the stream of copies
  mutable std::vector<const Device*> known_;  // whose memory this one was asked to reach
  std::vector<ModuleHandle> modules_;
  std::unordered_map<std::string, Kernel> kernels_;
};

// Memory of the device. Grows when asked to and keeps what it has otherwise; contents are not kept.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Device& device, std::size_t bytes) { at_least(device, bytes); }
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)),
        address_(std::exchange(other.address_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_), std::swap(address_, other.address_), std::swap(bytes_, other.bytes_);
    return *this;
  }
  Pointer address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  void at_least(const Device& device, std::size_t bytes);

 private:
  void release() noexcept;
  const Device* device_ = nullptr;
  Pointer address_ = 0;
  std::size_t bytes_ = 0;
};

// What goes to the device or comes from it does so in pieces of so many doubles.
constexpr std::size_t staged_values = std::size_t{1} << 20;

// Host memory that the device copies from and to directly.
class HostBuffer {
 public:
  HostBuffer() = default;
  ~HostBuffer() { release(); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  double* at_least(const Device& device, std::size_t values);

 private:
  void release() noexcept;
  const Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t values_ = 0;
};

// A point in a stream.
class Event {
 public:
  Event() = default;
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(const Device& device) { record(device, device.stream()); }
  void record(const Device& device, StreamHandle stream);
  void wait() const;                     // for what was recorded last; not where nothing was
  void hold(StreamHandle stream) const;  // the stream waits, the host does not
  EventHandle handle() const { return handle_; }

 private:
  const Device* device_ = nullptr;
  EventHandle handle_ = nullptr;
  bool recorded_ = false;
};

}  // namespace fd::cuda
