// Writes a table as a .npy (float32 or float64, C order), atomically; or as text when the name ends in .csv, .tsv or .txt.
#pragma once

#include <string>

#include <flashdiffusion/points.hpp>

namespace fd {

void write_table(const Table& table, const std::string& path);

}  // namespace fd
