// Labels of rows from a file: a column of words or numbers each, for colouring a map.
//
// Text (.csv, .tsv, .txt, also gzip'ed): a line a row, with a header or without; label_layout.hpp says how lines find their rows. An empty line
// of a table of one column is a missing label; of several columns it is a row without labels where the count of rows asks for it. A column is
// numbers where every cell is a number or missing, unless a double would round whole ones among them: labels are kept as they were given, targets are
// rounded. Other formats hold numbers, as points do; where they name their rows (HDF5, AnnData) these
// names are a column of names. Does not know: what is done with labels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <flashdiffusion/report.hpp>

#include "io/label_layout.hpp"

namespace fd {

// `notes`: what was recognised, where anybody asks. Throws Error(input / io) that names the file and the line.
std::vector<Labels> read_labels(const std::string& path, const LabelledRows& rows, std::vector<std::string>* notes = nullptr);

// Targets: the same, of several files that are one table, all of them text or none. A column may be words: of one that is used,
// require_numbers says which cell is no number, as an Error(input). `file_of_row`: the index in `files` of the one that a row's targets are from.
std::vector<Labels> read_targets(const std::vector<std::string>& files, const LabelledRows& rows,
                                 std::vector<std::string>* notes = nullptr, std::vector<std::size_t>* file_of_row = nullptr);
void require_numbers(const Labels& column, const std::string& file);

}  // namespace fd
