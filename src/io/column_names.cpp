#include "io/column_names.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/printable.hpp"

namespace fd {

std::string compare_columns(const std::vector<std::string>& known, const std::string& known_by,
                            const std::vector<std::string>& given, const std::string& given_by) {
  if (known.size() != given.size() || known == given) return {};  // another number of columns is refused by who counts them
  const auto at = static_cast<std::size_t>(std::mismatch(known.begin(), known.end(), given.begin()).first - known.begin());
  const std::string where = fmt::format("column {} is \"{}\" in {} and \"{}\" in {}", at + 1, printable(known[at]), known_by,
                                        printable(given[at]), given_by);
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  if (sorted(known) == sorted(given))
    throw Error(Failure::input, fmt::format("{} has the columns of {} in another order: {}", given_by, known_by, where),
                "write the columns in the same order: they are taken by position");
  return fmt::format("columns are taken by position, and their names differ: {}", where);
}

}  // namespace fd
