#include "io/column_names.hpp"

#include <locale.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cwctype>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/printable.hpp"

namespace fd {
namespace {

using Names = std::vector<std::string>;

// In whatever script, where the name is UTF-8 and the system knows small letters; those of ASCII otherwise.
std::string in_small_letters(const std::string& name) {
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string small = name;
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  if (unicode == nullptr) return small;
  const locale_t before = ::uselocale(unicode);
  std::wstring wide(name.size() + 1, L'\0');
  const std::size_t letters = std::mbstowcs(wide.data(), name.c_str(), wide.size());
  if (letters != static_cast<std::size_t>(-1)) {
    std::transform(wide.begin(), wide.end(), wide.begin(),
                   [](wchar_t c) { return static_cast<wchar_t>(std::towlower(static_cast<wint_t>(c))); });
    std::string bytes(4 * letters + 1, '\0');
    const std::size_t length = std::wcstombs(bytes.data(), wide.c_str(), bytes.size());
    if (length != static_cast<std::size_t>(-1)) small = bytes.substr(0, length);
  }
  ::uselocale(before);
  return small;
}
Names in_small_letters(Names names) {
  for (std::string& name : names) name = in_small_letters(name);
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
