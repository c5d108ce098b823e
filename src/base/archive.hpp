// Records as bytes, one description for both directions: `archive(a, b, c)` writes the three, or reads them, so that what is written and what
// is read cannot differ. Numbers as they lie in memory: for files that the same program reads again.
//
// Reading past the end, or a length that the bytes left cannot hold, throws Error(input). Does not know: what the bytes are kept in.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <flashdiffusion/error.hpp>

namespace fd {

class Archive {
 public:
  virtual ~Archive() = default;
  virtual bool reading() const = 0;
  virtual void bytes(void* data, std::size_t count) = 0;  // reads them, or writes them
  virtual std::uint64_t left() const = 0;                 // bytes that can still be read

  template <class... T>
  void operator()(T&... values) {
    (value(values), ...);
  }

 private:
  template <class T>
  void value(T& v) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) bytes(&v, sizeof v);
    else archive(*this, v);  // found beside the type
  }
  void value(std::string& v) {
    resize(v, 1);
    bytes(v.data(), v.size());
  }
  template <class T>
  void value(std::vector<T>& v) {
    resize(v, std::is_arithmetic_v<T> ? sizeof(T) : sizeof(std::uint64_t));  // others begin with a length
    if constexpr (std::is_arithmetic_v<T>) bytes(v.data(), v.size() * sizeof(T));
    else
      for (T& one : v) value(one);
  }
  template <class T>
  void resize(T& v, std::size_t bytes_each) {
    auto size = static_cast<std::uint64_t>(v.size());
    bytes(&size, sizeof size);
    if (!reading()) return;
    if (size > left() / bytes_each) throw Error(Failure::input, "a length in it is larger than the bytes that follow");
    v.resize(static_cast<std::size_t>(size));
  }
};

class ArchiveWriter final : public Archive {
 public:
  using Put = std::function<void(const void*, std::size_t)>;
  explicit ArchiveWriter(Put put) : put_(std::move(put)) {}
  bool reading() const override { return false; }
  void bytes(void* data, std::size_t count) override { put_(data, count); }
  std::uint64_t left() const override { return 0; }

 private:
  Put put_;
};

// Does not own the bytes.
class ArchiveReader final : public Archive {
 public:
  ArchiveReader() = default;
  ArchiveReader(const char* data, std::size_t size) : at_(data), end_(data + size) {}
  bool reading() const override { return true; }
  void bytes(void* data, std::size_t count) override {
    if (count > left()) throw Error(Failure::input, "it ends too early");
    if (count > 0) std::memcpy(data, at_, count);
    at_ += count;
  }
  std::uint64_t left() const override { return static_cast<std::uint64_t>(end_ - at_); }

 private:
  const char *at_ = nullptr, *end_ = nullptr;
};

// The bytes of what `write` archives; `expected` of them are allocated at once: a vector that grows takes up to three times the memory for a while.
inline std::vector<char> archived(const std::function<void(Archive&)>& write, std::size_t expected = 0) {
  std::vector<char> bytes;
  bytes.reserve(expected);
  ArchiveWriter writer([&](const void* data, std::size_t count) {
    const char* from = static_cast<const char*>(data);
    bytes.insert(bytes.end(), from, from + count);
  });
  write(writer);
  return bytes;
}

// How many bytes `write` archives.
inline std::size_t archived_size(const std::function<void(Archive&)>& write) {
  std::size_t total = 0;
  ArchiveWriter counter([&](const void*, std::size_t count) { total += count; });
  write(counter);
  return total;
}

}  // namespace fd
