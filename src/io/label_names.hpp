// Lines of a table of labels that name the rows they belong to. Labels reach their own rows for certain, or are refused with what to do.
//
// Of a column one thing is asked: are these the rows' names, how many of them, each once, in the rows' order? The column of names is the one that
// names most rows: the first, or one behind an index. Where it names most of them, lines are placed by it, and every row needs a line of
// its own; lines that name no row are left out. Names that several rows share place nothing: the lines must then be in the model's order, name by
// name. Refused are names of which only some fit, or hardly any; and numbers that are the rows' names in another spelling, that stand behind another column,
// or that number rows without names, where they are in another order than the rows: they may as well be a rank.
#pragma once

#include <string>
#include <vector>

#include "io/label_layout.hpp"

namespace fd {

// `header`: whether the first line may be one. Fills the layout, true; or leaves the lines to be taken in order, false. Throws Error(input) that
// names `path`.
bool lay_out_by_names(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names, std::size_t rows,
                      const std::string& path, LabelLayout& layout);

// Some words in quotes, and how many more there are.
std::string quoted_some(const std::vector<std::string>& words, std::size_t most = 5);

}  // namespace fd
