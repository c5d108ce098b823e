// Writes a table, of diffusion coordinates if nothing else is said, whole or not at all. The suffix decides: .npy (float32 or float64, C
// order), .csv and .tsv (a header "name,dc1,dc2,…" and the names of the rows; without names the header is "dc1,dc2,…" and there is no first
// column), .txt (numbers only, separated by blanks), .h5 and .hdf5 (/coordinates, and /names as UTF-8 of fixed length). Numbers are the
// shortest that read back the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

// Throws Error(misuse) where the suffix is none of these: to be asked before the work that makes the table.
void check_table_name(const std::string& path);

// What the table holds.
struct TableHeadings {
  std::string dataset = "coordinates";  // of HDF5
  std::vector<std::string> columns{};   // of text, one each; none: dc1, dc2, …
};

// `names`: one a row, or none.
void write_table(const Table& table, const std::string& path, const std::vector<std::string>& names = {},
                 const TableHeadings& headings = {});

// The text of a .csv, piece by piece.
void write_csv(const Table& table, const std::vector<std::string>& names, const std::function<void(std::string_view)>& sink,
               const TableHeadings& headings = {});

}  // namespace fd
