// Files appear whole, by rename, or not at all.
#pragma once

#include <string>

namespace fd {

// A temporary file beside `path`, removed again unless commit() was called. The constructor makes it, so that a folder that cannot
// be written to is found out before a long fit and not at its end; commit() flushes to disk and renames.
//
// The temporary file has a name nobody can foresee, did not exist before (O_EXCL) and is no link (O_NOFOLLOW). A link at `path` is
// followed, where it leads to nothing too: its target is what appears. A file that is replaced hands on its mode, and its owner
// where the system allows it.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  const std::string& temporary() const { return temporary_; }  // exists and is empty: open it for writing by this name
  void commit();

 private:
  void make_temporary(const std::string& folder, const std::string& name);

  std::string path_, temporary_;
  bool committed_ = false;
};

// Whether what is written to one would be written to the other: through links, to files not there yet too, and under both names of a file.
bool same_output(const std::string& one, const std::string& other);

}  // namespace fd
