#include "io/text_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

namespace fd {
namespace {

std::optional<double> with_point(std::string_view cell) {
  double value = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc::result_out_of_range)
    return std::strtod(std::string(cell).c_str(), nullptr);  // 0 or infinity, by its size
  return value;
}

}  // namespace

std::optional<double> NumberReader::operator()(std::string_view cell) {
  if (!cell.empty() && cell[0] == '+') cell.remove_prefix(1);
  if (cell.empty() || cell[0] == '+') return std::nullopt;
  if (mark_ == '.') return with_point(cell);
  const std::size_t comma = commas_ ? cell.find(',') : std::string_view::npos;
  if (comma == std::string_view::npos) {
    const bool point = cell.find('.') != std::string_view::npos;
    if (point && mark_ == ',') return std::nullopt;
    const auto value = with_point(cell);
    if (value && point) mark_ = '.';
    return value;
  }
  std::string changed(cell);
  if (changed.find('.') != std::string::npos) return std::nullopt;
  changed[comma] = '.';
  const auto value = with_point(changed);
  if (value) mark_ = ',';
  return value;
}

bool missing_word(std::string_view cell) {
  for (const std::string_view word : {"", "NA", "N/A", "na", "n/a", "null", "NULL", "None", "?", "-", "."})
    if (cell == word) return true;
  return false;
}

bool digits_only(std::string_view cell) {
  return !cell.empty() && std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace fd
