// Files appear whole, by rename, or not at all.
#pragma once

#include <string>

namespace fd {

// A temporary name beside `path`, removed again unless commit() was called. The constructor checks that the folder exists and
// can be written to, so that a long fit does not find out at its end; commit() flushes to disk and renames.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  const std::string& temporary() const { return temporary_; }
  void commit();

 private:
  std::string path_, temporary_;
  bool committed_ = false;
};

}  // namespace fd
