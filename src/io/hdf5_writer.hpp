// Writes an HDF5 file whose bytes depend on what is written and on nothing else: no object times, fixed format bounds (HDF5 1.8,
// whose headers carry checksums), arrays contiguous. Failures throw Error(io). Knows nothing of models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5_handle.hpp"

namespace fd {

class Hdf5Writer {
 public:
  // `shown` is the name in messages; `bytes` a bound on the arrays to come, reserved on the disk.
  Hdf5Writer(const std::string& file, std::string shown, std::uint64_t bytes);

  // Attributes of `object` ("/" or a dataset written before). Text is UTF-8 of fixed length, as everywhere in the file: a heap of strings
  // has no checksums, and one changed bit in it crashes readers.
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void attribute(const std::string& object, const std::string& name, double value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  void attribute(const std::string& object, const std::string& name, bool value);

  void group(const std::string& path);
  void array(const std::string& path, const std::vector<hsize_t>& shape, const float* values);
  void array(const std::string& path, const std::vector<hsize_t>& shape, const double* values);
  void array(const std::string& path, const std::vector<hsize_t>& shape, const std::int64_t* values);
  void text(const std::string& path, const std::string& value);                // one string
  void text(const std::string& path, const std::vector<std::string>& values);  // a column of them
  void close();

 private:
  void write(const std::string& path, const Hdf5& space, hid_t stored, hid_t memory, const void* values);
  void write_attribute(const std::string& object, const std::string& name, hid_t stored, hid_t memory, const void* value);
  void write_strings(const std::string& path, const Hdf5& space, const std::vector<std::string>& values);
  void check(bool good, const std::string& what) const;

  Hdf5Silence silence_;
  std::string shown_;
  Hdf5 file_;
};

}  // namespace fd
