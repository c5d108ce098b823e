// Points from files: one entry, all formats. Formats: .npy, .npz, text (.csv .tsv .txt, "-"), HDF5 (.h5 .hdf5 .h5ad).
// A new format is a file in this folder and a row in the table of open_points.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

// Opens "a.npy", "a.npz:name", "a.csv", "a.h5:/path", "-" …; several are stacked in order and must agree in dimension.
// Throws Error(input / io / misuse) that names file, row and column.
std::unique_ptr<PointSource> open_points(const std::vector<std::string>& arguments);

// For provenance: what was read.
struct InputFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string crc32;  // eight hex digits, as zip and gzip print it; empty for standard input
};
std::vector<InputFile> describe_inputs(const std::vector<std::string>& arguments);

}  // namespace fd
