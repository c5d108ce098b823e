// Lines of a table of labels that say which rows they belong to. A table is taken only where there is no doubt; the user, who knows, settles a doubt:
// lines are in the model's order, or are placed by their names.
//
//   names of rows        taken                                                           refused
//   unique words         a column that covers them, in any order                         two that disagree; none
//   unique numbers       a column equal to them row by row; or that covers them, where   one that may be an index or a rank; none
//                        neither is dense; or that counts the lines of the whole table
//                        from a base that the names prove
//   shared               a column equal to them row by row; one that is not made of them a column of the same names in another order
//   none, or a count     in order                                                        a column that counts, and not in ascending order
//   "row 7" (drop-rows)  a column of such names that covers them; or as without names    a column of such names that does not
//
// A table of one column is taken in order, unless it hides a second one: its lines begin with names, with numbers in another order, or are several
// parts of which the last is a number.
// Lines that name no row are left out, and this is said.
#pragma once

#include <string>
#include <vector>

#include "io/label_layout.hpp"

namespace fd {

// `first`: what the first line is by its content. Fills the layout, true; or leaves the lines to be taken in order, false. Throws Error(input) that
// names `path`.
bool lay_out_by_names(const LabelLines& table, FirstLine first, const LabelledRows& rows, const std::string& path,
                      LabelLayout& layout);

// Some words in quotes, and how many more there are.
std::string quoted_some(const std::vector<std::string>& words, std::size_t most = 5);

}  // namespace fd
