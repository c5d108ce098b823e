// Owning HDF5 identifiers, and silence: HDF5 prints its own stack of messages unless told not to; ours say what to do.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "io/bytes.hpp"

namespace fd {

// An HDF5 identifier and the function that closes it. A negative identifier is a call that failed.
class Hdf5 {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5() = default;
  Hdf5(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5(Hdf5&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5& operator=(Hdf5&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5() { close(); }

  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }
  // False where buffered data could not be written.
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// A file for reading; what HDF5 does not take is no identifier. Error(io) where the process can open no further file, of which HDF5 says nothing.
inline Hdf5 open_hdf5(const std::string& path) {
  Hdf5 file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file) const FileBytes another(path);
  return file;
}

// No messages from HDF5 while it lives; made before anything else is asked of HDF5.
class Hdf5Silence {
 public:
  Hdf5Silence() {
    // HDF5 closes at exit what is still open. After a write that failed that crashes, and there is nothing to close: every identifier
    // has an owner here.
    [[maybe_unused]] static const herr_t no_exit_handler = H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Hdf5Silence(const Hdf5Silence&) = delete;
  Hdf5Silence& operator=(const Hdf5Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace fd
