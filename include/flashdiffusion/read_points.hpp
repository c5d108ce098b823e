// Points from files, whatever their format: .npy, .npz, text (.csv, .tsv, .txt, also gzip'ed), HDF5 (.h5, .hdf5, .h5ad). What was taken
// for what is in notes() of the source; names of the rows, where the file has them, in row_names().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

enum class Missing {
  refuse,  // NaN in text, NA, an empty cell: an Error(input) that names the first places
  // Rows with such a cell, or with NaN or infinity in whatever file, are left out; the others keep their names, or get their numbers as such.
  drop_rows,
};

struct ReadOptions {
  std::optional<bool> header;  // of text: whether the first line names the columns; nothing: recognised
  std::string names = "auto";  // of text: the column of row names, by its header or its number from 1; "none"; "auto": recognised
  Missing missing = Missing::refuse;
  // Names that the columns are known to have, of a model for instance, and who says so: columns called as others are there are an Error, other
  // names a note. In text a first line of these names is a header also where they are numbers.
  std::vector<std::string> columns;
  std::string columns_of;
  bool vectors = false;  // an array of one dimension (.npy, .npz, HDF5) is a column of numbers, instead of an error
  // Of arrays: instead of each number what rounding to a double took from it, which is not zero for whole numbers of 64 bits alone.
  bool roundings = false;
};

// Opens "a.npy", "a.npz:name", "a.csv", "a.h5:/path", "-" (text on standard input) …; several are stacked in order and must agree in
// dimension. Binary files are read piece by piece, text is held in memory (8 bytes a value). Throws Error(input / io / misuse) that
// names file, row and column.
std::unique_ptr<PointSource> open_points(const std::vector<std::string>& files, const ReadOptions& options = {});

}  // namespace fd
