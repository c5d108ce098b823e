// Counts and lists of rows as they stand in sentences: "1 row", "3 rows", "rows 5, 17, 20, ...". English nouns with a regular plural.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"

namespace fd {

inline const char* one_or_many(std::size_t count, const char* one, const char* many) { return count == 1 ? one : many; }

// "1 row", "0 rows", "2 passes".
inline std::string counted(std::size_t count, std::string_view noun) {
  const std::string words = std::to_string(count) + " " + std::string(noun);
  return count == 1 ? words : words + (noun.back() == 's' ? "es" : "s");
}

// 1,000,000: so many zeros are not counted at a glance.
inline std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// "900 rows and 1 column" of a table.
inline std::string counted_shape(std::size_t rows, std::size_t columns) {
  return counted(rows, "row") + " and " + counted(columns, "column");
}

// Rows that are counted from 0, as people count them, from 1: "row 18" or, where there are more than `most`, "rows 5, 17, 20, ...". Where all rows have
// names, by these: "row 7" is the number that a row had before others left its table, anything else a name of its own.
inline std::string listed_rows(const std::vector<std::size_t>& rows, std::size_t most,
                               const std::vector<std::string>& names = {}) {
  constexpr std::string_view number = "row ";
  constexpr std::size_t longest = 60;
  const auto called = [&](std::size_t row) {
    if (names.empty()) return std::to_string(row + 1);
    const std::string& name = names[row];
    if (name.starts_with(number) && name.size() > number.size() &&
        name.find_first_not_of("0123456789", number.size()) == std::string::npos)
      return name.substr(number.size());
    return "\"" + printable(name.size() > longest ? name.substr(0, longest) + "..." : name) + "\"";
  };
  std::string text = one_or_many(rows.size(), "row", "rows");
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) text += (i == 0 ? " " : ", ") + called(rows[i]);
  return rows.size() > most ? text + ", ..." : text;
}

}  // namespace fd
