// Points from files: one entry, all formats; open_points itself is public. A new format is a file in this folder and a row in the table
// of open_points.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <flashdiffusion/read_points.hpp>

namespace fd {

// `look` sees the points once their shape is known, before rows with missing values are looked for, which reads them all.
std::unique_ptr<PointSource> open_points(const std::vector<std::string>& files, const ReadOptions& options,
                                         const std::function<void(const PointSource&)>& look);

// For provenance: what was read.
struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string crc32;  // eight hex digits, as zip and gzip print it; empty for standard input
};
std::vector<InputFile> describe_inputs(const std::vector<std::string>& arguments);

}  // namespace fd
