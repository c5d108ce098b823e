#include "io/label_layout.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t listed = 5;                // names in a sentence
constexpr std::size_t enough_to_see_a_rule = 8;  // lines

enum class First { header, label, either };

bool is_number(const std::string& cell) { return NumberReader(false)(cell).has_value(); }

// "Cluster", "cell_type", "leiden 2" are not what a row is called.
bool usual_heading(std::string_view cell) {
  std::string word;
  for (const char c : cell)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr std::string_view known[] = {"annotation", "barcode", "batch",   "category",  "celltype", "class",  "cluster",
                                               "clusters",   "color",   "colour",  "condition", "group",    "kind",   "label",
                                               "labels",     "leiden",  "louvain", "name",      "sample",   "target", "type"};
  return std::find(std::begin(known), std::end(known), word) != std::end(known);
}

First judge_column(const std::vector<LabelLine>& lines, std::size_t column) {
  const std::string& first = lines[0][column];
  std::unordered_map<std::string_view, std::size_t> counts;
  bool numeric = true, any_number = false, any_empty = false;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string& cell = lines[i][column];
    const bool missing = missing_word(cell), number = !missing && is_number(cell);
    numeric = numeric && (number || missing);
    any_number = any_number || number;
    any_empty = any_empty || cell.empty();
    if (!missing) ++counts[cell];
  }
  if (first.empty()) return column == 0 && lines[0].size() > 1 && !any_empty ? First::header : First::either;
  if (missing_word(first)) return First::either;
  if (numeric && any_number) {
    if (is_number(first)) return First::label;
    return meant_as_number(first) ? First::either : First::header;
  }
  if (counts.count(first) > 0) return First::label;
  if (usual_heading(first)) return First::header;
  // labels recur, most of them at least
  std::size_t recurring = 0, all = 0;
  for (const auto& [word, count] : counts) {
    all += count;
    if (count > 1) recurring += count;
  }
  return all > 0 && lines.size() >= enough_to_see_a_rule && 10 * recurring >= 9 * all ? First::header : First::either;
}

// A header has a heading for every column; a line of labels may hold a word that occurs nowhere else.
First judge_first_line(const std::vector<LabelLine>& lines) {
  if (lines.size() < 2) return First::either;
  bool header = false, label = false;
  for (std::size_t column = 0; column < lines[0].size(); ++column) {
    const First found = judge_column(lines, column);
    header = header || found == First::header;
    label = label || found == First::label;
  }
  return header ? First::header : label ? First::label : First::either;
}

std::string quoted_some(const std::vector<std::string>& words) {
  const std::size_t shown = std::min(listed, words.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", words[i]);
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

[[noreturn]] void refuse_count(const std::vector<LabelLine>& lines, First first, std::size_t rows, const std::string& path,
                               const char* noun) {
  const std::size_t labels = lines.size() - (first == First::header ? 1 : 0);
  std::string what = fmt::format("{}: {} for {}", path, counted(labels, noun), counted(rows, "row"));
  std::string hint = "give one line a row of the model, in its order, with or without a header";
  if (first == First::header) {
    what +=
        fmt::format(" ({}, the first of which is taken for a header: {})", counted(lines.size(), "line"), quoted_some(lines[0]));
    if (lines.size() == rows) hint += fmt::format("; if line 1 is a {}, put a header above it", noun);
  } else if (first == First::label && lines.size() == rows + 1) {
    what += fmt::format(" ({}, and the first is like the others, no header: {})", counted(lines.size(), "line"),
                        quoted_some(lines[0]));
    hint += "; a header is words that are not among the labels";
  }
  throw Error(Failure::input, what, hint);
}

[[noreturn]] void refuse_names(const std::string& path, const std::string& what) {
  throw Error(Failure::input, fmt::format("{}: the first column names rows of the model, but {}", path, what),
              "give every row one line with its name; or leave the column of names out, with the lines in the model's order");
}

using Places = std::unordered_map<std::string_view, std::size_t>;

// The line of each row by its name. `first`: the first line that is not a header.
void place_by_names(const std::vector<LabelLine>& lines, const std::vector<std::string>& names, const Places& row_of,
                    const std::string& path, LabelLayout& layout) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::string> doubled, strange, lacking;
  layout.lines.assign(names.size(), none);
  for (std::size_t i = layout.header ? 1 : 0; i < lines.size(); ++i) {
    const auto row = row_of.find(lines[i][0]);
    if (row == row_of.end()) strange.push_back(lines[i][0]);
    else if (layout.lines[row->second] != none) doubled.push_back(lines[i][0]);
    else layout.lines[row->second] = i;
  }
  for (std::size_t row = 0; row < names.size(); ++row)
    if (layout.lines[row] == none) lacking.push_back(names[row]);
  if (!doubled.empty())
    refuse_names(path, fmt::format("{} more than one line", quoted_some(doubled) + (doubled.size() == 1 ? " has" : " have")));
  if (!lacking.empty())
    refuse_names(path, fmt::format("{} no line{}", quoted_some(lacking) + (lacking.size() == 1 ? " has" : " have"),
                                   strange.empty() ? "" : fmt::format("; no row is called {}", quoted_some(strange))));
  layout.named = true;
  layout.remarks.emplace_back("lines are placed by the row names in the first column");
  if (!strange.empty())
    layout.remarks.push_back(fmt::format("{} left out, of names that no row of the model has: {}",
                                         strange.size() == 1 ? "1 line is" : fmt::format("{} lines are", strange.size()),
                                         quoted_some(strange)));
}

}  // namespace

LabelLayout lay_out_labels(const std::vector<LabelLine>& lines, std::size_t rows, const std::vector<std::string>& names,
                           const std::string& path, const char* noun) {
  LabelLayout layout;
  if (lines.empty() || rows == 0) refuse_count(lines, First::either, rows, path, noun);
  const First first = judge_first_line(lines);
  const bool names_possible = !names.empty() && lines[0].size() > 1;
  Places row_of;
  if (names_possible)
    for (std::size_t row = 0; row < names.size(); ++row) row_of.emplace(names[row], row);
  const bool distinct = row_of.size() == names.size();
  std::size_t found = 0;  // rows that are named
  if (names_possible && distinct) {
    std::vector<bool> seen(rows, false);
    for (const LabelLine& line : lines)
      if (const auto row = row_of.find(line[0]); row != row_of.end() && !seen[row->second]) seen[row->second] = true, ++found;
  }
  const auto say_header = [&] {
    layout.remarks.push_back(fmt::format("line 1 is taken for a header: {}", quoted_some(lines[0])));
  };
  if (10 * found >= rows) {  // by all names, or refused by those that do not fit
    layout.header = row_of.count(lines[0][0]) == 0 && first != First::label;
    if (layout.header) say_header();
    place_by_names(lines, names, row_of, path, layout);
    return layout;
  }
  layout.header = lines.size() == rows + 1 && first != First::label;
  if (lines.size() != rows + (layout.header ? 1 : 0) || (first == First::header && !layout.header))
    refuse_count(lines, first, rows, path, noun);
  if (layout.header) say_header();
  else if (first == First::either && rows >= enough_to_see_a_rule)
    layout.remarks.push_back(fmt::format("line 1 is taken for a {}, not for a header: {}", noun, quoted_some(lines[0])));
  if (names_possible && found < rows && !is_number(lines.back()[0]))
    layout.remarks.emplace_back("the first column does not hold the names of the model's rows; lines are taken in order");
  for (std::size_t row = 0; row < rows; ++row) layout.lines.push_back(row + (layout.header ? 1 : 0));
  return layout;
}

}  // namespace fd
