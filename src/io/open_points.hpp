// Points from files: one entry, all formats; open_points itself is public. A new format is a file in this folder and a row in the table
// of open_points.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <flashdiffusion/read_points.hpp>

namespace fd {

// For provenance: what was read.
struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string crc32;  // eight hex digits, as zip and gzip print it; empty for standard input
};
std::vector<InputFile> describe_inputs(const std::vector<std::string>& arguments);

}  // namespace fd
