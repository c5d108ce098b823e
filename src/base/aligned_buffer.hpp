// A move-only array, aligned for any vector unit and, when large, to huge pages. Contents start at zero.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <flashdiffusion/error.hpp>

namespace fd {

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    std::size_t bytes = size * sizeof(T);
    const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : 128;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    void* memory = size > SIZE_MAX / sizeof(T) / 2 ? nullptr : std::aligned_alloc(alignment, bytes);
    if (memory == nullptr)
      throw Error(Failure::memory, "could not allocate " + std::to_string(bytes >> 20) + " MiB",
                  "use fewer points or modes, or a smaller --memory");
#if defined(__linux__)
    if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    std::memset(memory, 0, bytes);
    data_.reset(static_cast<T*>(memory));
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  // Grows when needed and keeps the memory otherwise; the contents are not kept.
  void at_least(std::size_t size) {
    if (size > size_) *this = AlignedBuffer(size);
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace fd
