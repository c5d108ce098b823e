#include "io/label_layout.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "io/label_names.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t enough_to_see_a_rule = 8;  // lines

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

// Digits behind the decimal mark; of what has an exponent, or is no finite number, more than any.
std::size_t decimals(std::string_view number) {
  constexpr std::size_t any = 1000;
  if (number.find_first_not_of("0123456789+-., ") != std::string_view::npos) return any;
  const std::size_t mark = number.find_last_of(".,");
  return mark == std::string_view::npos ? 0 : number.size() - mark - 1;
}

// "0", "2019", "0.5" above numbers all of which have decimals, or many more: what pandas makes of a column without a name. Not "0.0".
bool like_a_heading(std::string_view first, std::size_t fewest_below) {
  if (digits_only(first)) return fewest_below > 0;
  const std::size_t mark = first.find_last_of(".,");
  return mark != std::string_view::npos && first.find_first_not_of('0', mark + 1) != std::string_view::npos &&
         decimals(first) + 3 <= fewest_below;
}

FirstLine judge_column(const LabelLines& table, std::size_t column) {
  const std::vector<LabelLine>& lines = table.filled;
  const std::string& first = lines[0][column];
  const auto is_number = [&](const std::string& cell) { return NumberReader(table.decimal_commas)(cell).has_value(); };
  std::unordered_map<std::string_view, std::size_t> counts;
  bool numeric = true, any_number = false, any_empty = false;
  std::size_t fewest = static_cast<std::size_t>(-1);  // decimals
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string& cell = lines[i][column];
    const bool missing = missing_word(cell), number = !missing && is_number(cell);
    numeric = numeric && (number || missing);
    any_number = any_number || number;
    any_empty = any_empty || cell.empty();
    if (number) fewest = std::min(fewest, decimals(cell));
    if (!missing) ++counts[cell];
  }
  if (first.empty() && lines[0].size() == 1) return FirstLine::label;  // a blank line
  if (first.empty()) return column == 0 && !any_empty ? FirstLine::header : FirstLine::either;
  if (missing_word(first)) return FirstLine::either;
  if (numeric && any_number) {
    if (is_number(first)) return like_a_heading(first, fewest) ? FirstLine::likely_header : FirstLine::likely_label;
    return meant_as_number(first) ? FirstLine::either : FirstLine::header;
  }
  if (counts.count(first) > 0) return FirstLine::label;
  if (usual_heading(first)) return FirstLine::header;
  if (!any_number && (first == "x" || is_number(first)))
    return FirstLine::likely_header;  // as R and pandas head what has no name
  // labels recur, most of them at least
  std::size_t recurring = 0, all = 0;
  for (const auto& [word, count] : counts) {
    all += count;
    if (count > 1) recurring += count;
  }
  return all > 0 && lines.size() >= enough_to_see_a_rule && 10 * recurring >= 9 * all ? FirstLine::likely_header
                                                                                      : FirstLine::either;
}

// An empty cell above a column that tells the lines apart: names or an index.
bool nothing_above_names(const std::vector<LabelLine>& lines) {
  std::unordered_set<std::string_view> names;
  return lines[0].size() > 1 && lines[0][0].empty() && std::all_of(lines.begin() + 1, lines.end(), [&](const LabelLine& line) {
           return !line[0].empty() && names.insert(line[0]).second;
         });
}

// 0, 1, 2 across, and not because the first column counts the lines.
bool numbered_across(const std::vector<LabelLine>& lines) {
  bool across = lines[0].size() > 1, down = true;
  for (std::size_t i = 0; i < lines[0].size(); ++i) across = across && lines[0][i] == std::to_string(i);
  for (std::size_t i = 0; i < lines.size() && across; ++i) down = down && lines[i][0] == std::to_string(i);
  return across && !down;
}

}  // namespace

// A line of labels may hold a word that occurs nowhere else, and a header a number: columns that disagree leave it to the number of lines.
FirstLine judge_first_line(const LabelLines& table) {
  if (table.headed) return FirstLine::header;
  if (table.filled.size() < 2) return FirstLine::either;
  if (nothing_above_names(table.filled)) return FirstLine::header;
  FirstLine highest = FirstLine::either, lowest = FirstLine::either;
  for (std::size_t column = 0; column < table.filled[0].size(); ++column) {
    const FirstLine found = judge_column(table, column);
    highest = std::max(highest, found);
    lowest = std::min(lowest, found);
  }
  if (numbered_across(table.filled)) return FirstLine::likely_header;
  if (looks_like_header(lowest) == looks_like_label(highest)) return FirstLine::either;
  return looks_like_header(lowest) ? lowest : highest;
}

namespace {

// No labels of a row, as one word above numbers may be ("noise" above clusters): usual headings, or a word above each of several columns of numbers.
bool heading_for_certain(const LabelLines& table) {
  const LabelLine& first = table.filled[0];
  if (table.headed || nothing_above_names(table.filled) || std::any_of(first.begin(), first.end(), usual_heading)) return true;
  const bool differ = std::unordered_set<std::string_view>(first.begin(), first.end()).size() == first.size();
  for (std::size_t column = 0; column < first.size(); ++column)
    if (judge_column(table, column) != FirstLine::header) return false;
  return differ && first.size() > 1;
}

[[noreturn]] void refuse_count(const LabelLines& table, FirstLine first, std::size_t rows, const std::string& path,
                               const char* noun) {
  const std::vector<LabelLine>& lines = table.filled;
  const std::size_t labels = lines.size() - (looks_like_header(first) ? 1 : 0);
  std::string what = fmt::format("{}: {} for {}", path, counted(labels, noun), counted(rows, "row"));
  if (!table.blank.empty()) what += fmt::format(", {} besides", counted(table.blank.size(), "blank line"));
  std::string hint = "give one line a row of the model, in its order, with or without a header";
  if (looks_like_header(first)) {
    what +=
        fmt::format(" ({}, the first of which is taken for a header: {})", counted(lines.size(), "line"), quoted_some(lines[0]));
    if (lines.size() == rows)
      hint += fmt::format("; if line 1 is a {}, put a header above it{}", noun,
                          first == FirstLine::likely_header ? ", or say --in-order" : "");
  } else if (looks_like_label(first) && lines.size() == rows + 1) {
    what += fmt::format(" ({}, and the first is like the others, no header: {})", counted(lines.size(), "line"),
                        quoted_some(lines[0]));
    hint += "; a header is words that are not among the labels";
  }
  throw Error(Failure::input, what, hint);
}

// Without names: lines in order, the first of them a header or not, blank ones rows or nothing. At the end of a file they are nothing: as rows they
// would make up for whatever is missing above.
struct Reading {
  bool header, blanks;
};

// Blank lines above a header are no rows.
std::size_t blanks_below(const LabelLines& lines, bool header) {
  const auto first = std::find_if(lines.blank.begin(), lines.blank.end(), [&](std::size_t at) { return !header || at > 0; });
  return static_cast<std::size_t>(lines.blank.end() - first);
}

std::vector<Reading> readings_of(const LabelLines& lines, FirstLine first, std::size_t rows) {
  std::vector<Reading> fitting;
  const bool likely = first == FirstLine::likely_header || first == FirstLine::likely_label;
  const bool doubtful = likely && !lines.blank.empty();  // two guesses would support each other
  for (const bool header : {false, true}) {
    if (!doubtful && (header ? looks_like_label(first) : looks_like_header(first))) continue;
    const std::size_t filled = lines.filled.size() - (header ? 1 : 0), blank = blanks_below(lines, header);
    if (filled == rows) fitting.push_back({header, false});
    else if (filled + blank == rows) fitting.push_back({header, true});
  }
  // that numbers above numbers are a header is a doubt, and no reading by itself
  if (fitting.size() == 1 && fitting[0].header && looks_like_label(first)) fitting.clear();
  return fitting;
}

std::string blank_text(const LabelLines& lines) {
  const std::size_t count = lines.blank.size();
  return count == 1 ? fmt::format("line {} is blank", lines.above + lines.blank[0] + 1)
                    : fmt::format("{} lines are blank", count);
}

}  // namespace

LabelLayout lay_out_labels(const LabelLines& table, const LabelledRows& labelled, const std::string& path, const char* noun) {
  const std::size_t rows = labelled.count;
  const std::vector<LabelLine>& lines = table.filled;
  LabelLayout layout;
  if (lines.empty() || rows == 0) refuse_count(table, FirstLine::either, rows, path, noun);
  const bool in_order = labelled.placing == Placing::in_order;
  FirstLine first = judge_first_line(table);
  if (in_order && first == FirstLine::likely_header) first = FirstLine::either;
  const auto blank_above = static_cast<std::size_t>(std::count(table.blank.begin(), table.blank.end(), std::size_t{0}));
  const std::string first_line = fmt::format("line {}", table.above + blank_above + 1);  // of those that are not blank
  if (table.above > 0) layout.remarks.push_back(fmt::format("what stands above {} is taken for a comment", first_line));
  const auto say_header = [&] {
    layout.remarks.push_back(fmt::format("{} is taken for a header: {}", first_line, quoted_some(lines[0])));
  };
  if (!in_order && lay_out_by_names(table, first, labelled, path, layout)) {
    if (layout.header) say_header();
    return layout;
  }
  const std::vector<Reading> readings = readings_of(table, first, rows);
  if (readings.empty()) refuse_count(table, first, rows, path, noun);
  if (readings.size() > 1)
    throw Error(Failure::input,
                fmt::format("{}: {}, and {} ({}) may be a header or a {}: for {} it can be read either way", path,
                            blank_text(table), first_line, quoted_some(lines[0]), noun, counted(rows, "row")),
                "take blank lines out; a row without labels is a line of empty cells");
  const Reading reading = readings[0];
  if (table.trailing > 0 && (first == FirstLine::either || first == FirstLine::likely_label) && !reading.header)
    throw Error(Failure::input,
                fmt::format("{}: {} at the end, and {} ({}) may be a {}, or a header and the last row without labels", path,
                            counted(table.trailing, "blank line"), first_line, quoted_some(lines[0]), noun),
                "take blank lines out; a row without labels is a line of empty cells");
  const std::size_t given = lines.size() + (reading.blanks ? table.blank.size() : 0);
  const bool whole_table = given == rows + labelled.left_out && !heading_for_certain(table);
  if (labelled.left_out > 0 && !in_order && reading.header && (first != FirstLine::header || whole_table))
    throw Error(
        Failure::input,
        fmt::format("{}: {} ({}) may be a header, or the first {} of the whole table, of which some rows were left out before "
                    "the fit",
                    path, first_line, quoted_some(lines[0]), noun),
        "name the rows in a column; --in-order, if the lines below the first are in the model's order, a line a row");
  if (labelled.left_out > 0 && !in_order && table.trailing + (reading.blanks ? 0 : table.blank.size()) > 0)
    throw Error(Failure::input,
                fmt::format("{}: blank lines may be rows of the whole table, of which some were left out before the fit", path),
                "take blank lines out; --in-order, if the lines are in the model's order, a line a row");
  layout.header = reading.header;
  if (layout.header) say_header();
  else if (first == FirstLine::either)
    layout.remarks.push_back(fmt::format("{} is taken for a {}, not for a header: {}", first_line, noun, quoted_some(lines[0])));
  if (!table.blank.empty())
    layout.remarks.push_back(fmt::format(
        "{}: {}", blank_text(table),
        reading.blanks ? (table.blank.size() == 1 ? "taken for a row without labels" : "taken for rows without labels")
                       : "left out"));
  if (table.halves && !layout.header)
    layout.remarks.emplace_back(
        "2 columns of whole numbers separated by commas; if these are decimal commas of one column, write points");
  auto blank = table.blank.end() - static_cast<std::ptrdiff_t>(reading.blanks ? blanks_below(table, reading.header) : 0);
  for (std::size_t line = layout.header ? 1 : 0; line < lines.size(); ++line) {
    for (; blank != table.blank.end() && *blank <= line; ++blank) layout.lines.push_back(LabelLayout::none);
    layout.lines.push_back(line);
  }
  return layout;
}

}  // namespace fd
