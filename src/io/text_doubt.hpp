// What a text table could be instead of what it is taken for, as far as its commas go: they may separate cells, mark decimals or separate
// thousands, and where a table can be read in two ways its numbers would be wrong without a sign of it.
#pragma once

#include <cstddef>
#include <string_view>

namespace fd {

// Of a table without a header whose commas are taken for separators. Seen as lines, before they are cut.
//
// "g0 -0,544": blanks could separate, and commas mark decimals. So it is where every line, cut at its blanks, has as many cells, two or more: a
// name or a number first, then numbers, and a comma between digits in one of them at least.
class BlanksInstead {
 public:
  void see(std::string_view line);
  bool possible() const { return possible_ && cells_ > 1; }

 private:
  bool possible_ = true;
  std::size_t cells_ = 0;
};

// "0" and "25" of "0,25", which could be one number with a decimal comma.
bool half_of_a_number(std::string_view cell, bool first);

// "1,234": three digits behind the comma, and before it one to three that do not start with 0.
bool thousands(std::string_view cell);

}  // namespace fd
