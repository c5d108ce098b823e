// The header of a .npy array, versions 1.0, 2.0 and 3.0. It is read, not believed: the caller compares the shape with the bytes
// that are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <flashdiffusion/error.hpp>

#include "io/bytes.hpp"

namespace fd {

struct NpyHeader {
  std::string descriptor;  // NumPy's type string; "[...]" for records
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // where the numbers start
};

NpyHeader read_npy_header(const Bytes& bytes);  // throws Error(input)

std::string shape_text(const std::vector<std::uint64_t>& shape);  // "(3, 4)", as NumPy prints it

// The one message, whatever the file, for an array that is not a table. Of a type of its own, for whoever knows what the axes are.
struct NotATable : Error {
  using Error::Error;
};
NotATable not_a_table(const std::string& file, const std::vector<std::uint64_t>& shape);

}  // namespace fd
