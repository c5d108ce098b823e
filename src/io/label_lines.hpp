// Text files -> the lines of one table of labels. Cells are cut and unquoted; which line is whose is not known here (label_layout.hpp).
//
// Lines above the table that begin with "#" are comments. An empty line of a table of one column is a missing label; of several it is blank.
// Those at the end are kept apart. Several files are one table: the same columns, below the same header in each, or none.
#pragma once

#include <string>
#include <vector>

#include "io/label_layout.hpp"

namespace fd {

// Throws Error(input / io) that names the file and the line.
LabelLines read_label_lines(const std::vector<std::string>& files);

}  // namespace fd
