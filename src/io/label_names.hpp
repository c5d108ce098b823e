// Lines of a table of labels that say which rows they belong to. Labels reach their own rows for certain, or are refused with what to do.
//
// A column that names every row of the model once places the lines; lines that name no row are left out. A column that holds the rows' names row by row
// shows that the lines are in order, also where rows share names. Refused is what leaves a doubt: a column that names some of the rows, or two that
// name them differently; names of which the model has none; whole numbers, each on one line, that are not in ascending order (an index, or a rank). The
// user, who knows, says that lines are in the model's order.
#pragma once

#include <string>
#include <vector>

#include "io/label_layout.hpp"

namespace fd {

// `first`: what the first line is by its content. Fills the layout, true; or leaves the lines to be taken in order, false. Throws Error(input) that
// names `path`.
bool lay_out_by_names(const std::vector<LabelLine>& lines, FirstLine first, const std::vector<std::string>& names,
                      const std::string& path, LabelLayout& layout);

// Some words in quotes, and how many more there are.
std::string quoted_some(const std::vector<std::string>& words, std::size_t most = 5);

}  // namespace fd
