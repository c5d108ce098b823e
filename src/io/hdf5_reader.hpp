// Reads named attributes and arrays of an HDF5 file. What is missing, of another shape or unreadable throws Error(input) that
// names file and place. Shapes are compared with what the file really stores before memory is taken for them, so a file cannot claim
// arrays it does not hold. Knows nothing of models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <flashdiffusion/points.hpp>

#include "io/hdf5_handle.hpp"

namespace fd {

class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& path);

  std::uint64_t bytes_past_end() const;  // of the file, behind the end that it states itself

  bool has_attribute(const std::string& object, const std::string& name) const;
  std::string text_attribute(const std::string& object, const std::string& name) const;
  double real_attribute(const std::string& object, const std::string& name) const;
  std::int64_t integer_attribute(const std::string& object, const std::string& name) const;  // booleans too

  bool has(const std::string& path) const;
  std::vector<std::uint64_t> shape(const std::string& path) const;
  // Throws unless the dataset has this shape.
  void expect_shape(const std::string& path, const std::vector<std::uint64_t>& wanted) const;
  std::vector<double> reals(const std::string& path) const;
  std::vector<std::int64_t> integers(const std::string& path) const;
  std::vector<std::string> texts(const std::string& path) const;  // fixed length; a scalar is a column of one
  Table table(const std::string& path) const;                     // float where it is stored so, double otherwise
  [[noreturn]] void damaged(const std::string& where) const;

 private:
  void refuse_links_to_other_files() const;
  Hdf5 open(const std::string& path) const;
  std::size_t stored_count(const std::string& path, hid_t dataset) const;
  void read(const std::string& path, hid_t dataset, hid_t memory, void* out) const;

  Hdf5Silence silence_;
  std::string path_;
  std::uint64_t bytes_ = 0;
  Hdf5 file_;
};

}  // namespace fd
