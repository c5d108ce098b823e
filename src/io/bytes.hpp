// Bytes that can be read from any position: a file (by pread; nothing is kept) or a block of memory. Reads are whole or throw
// Error(io) with the file named. Knows nothing of formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>

namespace fd {

// "cannot ACTION PATH: reason", kind io, with a hint where the reason suggests one. `code` is an errno.
Error system_error(const std::string& action, const std::string& path, int code);

class Bytes {
 public:
  virtual ~Bytes() = default;
  virtual const std::string& name() const = 0;  // for messages
  virtual std::uint64_t size() const = 0;
  virtual void read(std::uint64_t offset, std::size_t count, void* out) const = 0;
};

// A regular file, opened for reading. Missing, unreadable and special files and directories are errors.
class FileBytes final : public Bytes {
 public:
  explicit FileBytes(std::string path);
  ~FileBytes() override;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& name() const override { return path_; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::size_t count, void* out) const override;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

class MemoryBytes final : public Bytes {
 public:
  MemoryBytes(std::string name, std::vector<char> content) : name_(std::move(name)), content_(std::move(content)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return content_.size(); }
  void read(std::uint64_t offset, std::size_t count, void* out) const override;

 private:
  std::string name_;
  std::vector<char> content_;
};

}  // namespace fd
