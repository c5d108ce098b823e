// A move-only array, aligned for any vector unit and, when large, to huge pages. Contents start at zero. A large one is memory that
// nobody has touched yet: its pages are cleared by the threads that use them first, all at once and each near its own memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <flashdiffusion/error.hpp>

namespace fd {

// a b c, or the largest there is where that does not fit: an allocation of so many then fails.
inline std::size_t product_of(std::size_t a, std::size_t b, std::size_t c = 1) {
  const std::size_t ab = b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
  return c != 0 && ab > SIZE_MAX / c ? SIZE_MAX : ab * c;
}

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    const bool representable = size <= SIZE_MAX / sizeof(T) / 2;
    if (representable) data_ = size * sizeof(T) >= 2 * huge_page ? map(size * sizeof(T)) : allocate(size * sizeof(T));
    if (!data_)
      throw Error(
          Failure::memory,
          "could not allocate " + (representable ? std::to_string(size * sizeof(T) >> 20) + " MiB" : "more than there can be"),
          "use fewer points or modes, or a smaller `memory_bytes`");
  }
  // What was moved from is empty.
  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) {
    assert(i < size_);
    return data_[i];
  }
  const T& operator[](std::size_t i) const {
    assert(i < size_);
    return data_[i];
  }

  // Grows when needed and keeps the memory otherwise; the contents are not kept.
  void at_least(std::size_t size) {
    if (size > size_) *this = AlignedBuffer(size);
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{1} << 21;
  struct Release {
    std::size_t mapped = 0;  // bytes; none: allocated
    void operator()(T* p) const {
#if defined(__linux__)
      if (mapped > 0) return static_cast<void>(munmap(p, mapped));
#endif
      std::free(p);
    }
  };
  using Memory = std::unique_ptr<T[], Release>;

  static std::size_t whole(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

  static Memory allocate(std::size_t bytes, std::size_t alignment = 128) {
    void* memory = std::aligned_alloc(alignment, whole(bytes, alignment));
    if (memory != nullptr) std::memset(memory, 0, bytes);
    return Memory(static_cast<T*>(memory));
  }

  static Memory map(std::size_t bytes) {
#if defined(__linux__)
    // one huge page more than needed, and what lies before and behind the aligned part given back
    const std::size_t size = whole(bytes, huge_page);
    void* const memory = mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return {};
    char* const begin = static_cast<char*>(memory);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (before > 0) munmap(begin, before);
    munmap(begin + before + size, huge_page - before);
    madvise(begin + before, size, MADV_HUGEPAGE);
    return Memory(reinterpret_cast<T*>(begin + before), Release{size});
#else
    return allocate(bytes, huge_page);
#endif
  }

  Memory data_;
  std::size_t size_ = 0;
};

}  // namespace fd
