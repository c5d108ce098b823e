#include "io/text_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>

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
  for (const std::string_view word : {"", "NA", "N/A", "na", "n/a", "null", "NULL", "None", "?", "-", ".", "<NA>",  // pandas
                                      "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"})  // spreadsheets
    if (cell == word) return true;
  return false;
}

bool meant_as_number(std::string_view cell) {
  const auto number = [](std::string_view text) { return !text.empty() && with_point(text).has_value(); };
  const auto replace = [](std::string& text, std::string_view part, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size()) text.replace(at, part.size(), by);
  };
  if (number(cell) || cell.find_first_of("0123456789") == std::string_view::npos) return false;
  if (cell.size() > 2 && cell[0] == '0' && (cell[1] == 'x' || cell[1] == 'X'))
    return cell.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
  std::string text(cell);
  replace(text, "\u2212", "-");
  for (const std::string_view separator : {",", "'", " ", "\u00a0", "\u202f"}) replace(text, separator, "");
  if (number(text)) return true;
  for (const auto& [letter, digit] : {std::pair{"O", "0"}, {"o", "0"}, {"l", "1"}, {"I", "1"}}) replace(text, letter, digit);
  return text.find('.') != std::string::npos && number(text);
}

bool truth_value(std::string_view cell) {
  for (const std::string_view word : {"true", "false", "True", "False", "TRUE", "FALSE", "yes", "no", "Yes", "No"})
    if (cell == word) return true;
  return false;
}

bool digits_only(std::string_view cell) {
  return !cell.empty() && std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace fd
