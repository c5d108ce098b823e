#include "io/column_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/printable.hpp"

namespace fd {
namespace {

using Names = std::vector<std::string>;

Names in_small_letters(Names names) {
  for (std::string& name : names)
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return names;
}

// The first column whose name belongs to another one, which has it no more; the number of columns where there is none. Names that several
// columns share, and columns without one, are nothing special.
std::size_t first_misplaced(const Names& known, const Names& given) {
  std::unordered_set<std::string_view> lost;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i] != given[i] && !known[i].empty()) lost.insert(known[i]);
  std::size_t at = 0;
  while (at < known.size() && (known[at] == given[at] || !lost.contains(given[at]))) ++at;
  return at;
}

}  // namespace

std::string compare_columns(const Names& known, const std::string& known_by, const Names& given, const std::string& given_by) {
  if (known.size() != given.size() || known == given) return {};  // another number of columns is refused by who counts them
  const auto where = [&](std::size_t at) {
    return fmt::format("column {} is \"{}\" in {} and \"{}\" in {}", at + 1, printable(known[at]), known_by, printable(given[at]),
                       given_by);
  };
  const std::size_t misplaced =
      std::min(first_misplaced(known, given), first_misplaced(in_small_letters(known), in_small_letters(given)));
  if (misplaced < known.size())
    throw Error(Failure::input, fmt::format("{} has columns of {} in another order: {}", given_by, known_by, where(misplaced)),
                "write the columns in the same order, below the same names: they are taken by position");
  const auto differs = std::mismatch(known.begin(), known.end(), given.begin()).first - known.begin();
  return fmt::format("columns are taken by position, and their names differ: {}", where(static_cast<std::size_t>(differs)));
}

void ColumnNames::compare(const Names& given, const std::string& given_by) {
  std::string note;
  bool seen = given.empty();
  for (const auto& [known, known_by] : known_) {
    const std::string differs = compare_columns(known, known_by, given, given_by);
    if (note.empty()) note = differs;
    seen |= known == given;
  }
  if (!seen) known_.emplace_back(given, given_by);
  if (!note.empty()) notes_.push_back(std::move(note));
}

}  // namespace fd
