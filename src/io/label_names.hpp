// Lines of a table of labels that name the rows they belong to.
//
// The column of names is the one in which most rows of the model are named: the first, or one behind an index. Where it names most of them,
// lines are placed by it, and every row needs a line of its own; lines that name no row are left out. Names that several rows share place nothing: the lines
// must then be in the model's order, name by name. Whatever fits only in part is refused by name, as is a column of numbers behind another that would be
// the rows' names in another order: it may as well be a rank.
#pragma once

#include <string>
#include <vector>

#include "io/label_layout.hpp"

namespace fd {

// `header`: whether the first line may be one. Fills the layout, true; or leaves the lines to be taken in order, false. Throws Error(input) that
// names `path`.
bool lay_out_by_names(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names,
                      const std::string& path, LabelLayout& layout);

// Up to five words in quotes, and how many more there are.
std::string quoted_some(const std::vector<std::string>& words);

}  // namespace fd
