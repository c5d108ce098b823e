#include "io/label_layout.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "io/label_count.hpp"
#include "io/label_names.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t enough_to_see_a_rule = 8;  // lines

// "Cluster", "cell_type", "leiden_0.5" are not what a row is called; "Cluster 7" and "Sample_001" are.
bool usual_heading(std::string_view cell) {
  std::string word;
  bool digits = false;
  for (const char c : cell) {
    digits = digits || (c >= '0' && c <= '9');
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (digits) return word == "leiden" || word == "louvain";
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
  if (missing_word(first)) return FirstLine::likely_label;
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

// A column that counts the lines below the first, or holds names that rows of the model share, shows whether the first is one of them; so strong that
// no other column speaks against it.
FirstLine judge_by_count(const LabelLines& table, const std::vector<std::string>& names) {
  const std::vector<LabelLine>& lines = table.filled;
  std::unordered_set<std::string_view> shared(names.begin(), names.end());
  if (shared.size() == names.size()) shared.clear();
  const auto like_a_number = [&](std::string_view cell) { return NumberReader(true)(cell) || meant_as_number(cell); };
  const auto shared_name = [&](std::string_view cell) { return shared.count(cell) > 0 && !like_a_number(cell); };
  bool row = false;
  for (std::size_t column = 0; column < lines[0].size() && lines[0].size() > 1; ++column) {
    std::vector<std::string_view> cells;
    for (const LabelLine& line : lines) cells.emplace_back(line[column]);
    const std::string_view first = cells[0];
    const auto with = count_in(cells, table.decimal_commas);
    cells.erase(cells.begin());
    const auto below = count_in(cells, table.decimal_commas);
    const bool counts = below && below->all && below->whole() && (below->ascending() || !below->plain);
    const bool named = std::all_of(cells.begin(), cells.end(), shared_name);
    if ((!counts && !named) || missing_word(first) || shared_name(first)) continue;
    if (counts && below->plain && like_a_number(first)) continue;
    if (std::find(cells.begin(), cells.end(), first) != cells.end()) continue;  // measured twice: a row's name
    if (!counts || !with || !with->all) return FirstLine::header;
    row = true;
  }
  return row ? FirstLine::label : FirstLine::either;
}

}  // namespace

// What is certain counts for more than what is likely. A line of labels may hold a word that occurs nowhere else, and a header a word that does: what
// disagrees is left to the number of lines.
FirstLine judge_first_line(const LabelLines& table, const std::vector<std::string>& names) {
  if (table.headed) return FirstLine::header;
  if (table.filled.size() < 2) return FirstLine::either;
  if (nothing_above_names(table.filled)) return FirstLine::header;
  const FirstLine by_count = judge_by_count(table, names);
  std::set<FirstLine> found;
  for (std::size_t column = 0; column < table.filled[0].size(); ++column) found.insert(judge_column(table, column));
  if (by_count == FirstLine::header) return found.count(FirstLine::label) == 0 ? by_count : FirstLine::either;
  if (by_count == FirstLine::label && found.count(FirstLine::header) == 0) return by_count;
  if (numbered_across(table.filled)) return FirstLine::likely_header;
  for (const auto& [header, label] :
       {std::pair(FirstLine::header, FirstLine::label), {FirstLine::likely_header, FirstLine::likely_label}})
    if (found.count(header) + found.count(label) > 0)
      return found.count(label) == 0 ? header : found.count(header) == 0 ? label : FirstLine::either;
  return FirstLine::either;
}

namespace {

// No labels of a row, as one word above numbers may be ("noise" above clusters): usual headings, or a word above each of several columns of numbers.
bool heading_for_certain(const LabelLines& table, const std::vector<std::string>& names) {
  const LabelLine& first = table.filled[0];
  if (judge_by_count(table, names) == FirstLine::header) return judge_first_line(table, names) == FirstLine::header;
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
  if (const std::size_t blank = table.blank.size() + table.trailing; blank > 0)
    what += fmt::format(", {} besides", counted(blank, "blank line"));
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
  bool header, blanks, fits;
};

// Blank lines above a header are no rows.
std::size_t blanks_below(const LabelLines& lines, bool header) {
  const auto first = std::find_if(lines.blank.begin(), lines.blank.end(), [&](std::size_t at) { return !header || at > 0; });
  return static_cast<std::size_t>(lines.blank.end() - first);
}

// Those that some of the blank lines may bring to as many rows as there are; one fits where all of them do, or none. What is not certain of the first
// line excludes nothing beside a blank line: two guesses would support each other.
std::vector<Reading> readings_of(const LabelLines& lines, FirstLine first, std::size_t rows) {
  std::vector<Reading> possible;
  const bool certain = first == FirstLine::header || first == FirstLine::label;
  const bool doubtful = !certain && lines.blank.size() + lines.empty + lines.trailing > 0;
  for (const bool header : {false, true}) {
    const bool unlikely = header ? looks_like_label(first) : looks_like_header(first);
    if (unlikely && !doubtful) continue;
    const std::size_t filled = lines.filled.size() - (header ? 1 : 0), blank = blanks_below(lines, header);
    const std::size_t most = filled + blank + lines.trailing, least = filled - std::min(filled, certain ? 0 : lines.empty);
    const bool none = filled == rows && (certain || lines.empty == 0 || lines.trailing == 0);
    const bool all = filled + blank == rows && lines.trailing == 0;
    if (least <= rows && rows <= most) possible.push_back({header, filled != rows, (none || all) && !unlikely});
  }
  return possible;
}

std::string blank_text(const LabelLines& lines) {
  std::vector<std::string> text;
  if (lines.blank.size() == 1) text.push_back(fmt::format("line {} is blank", lines.above + lines.blank[0] + 1));
  else if (!lines.blank.empty()) text.push_back(fmt::format("{} lines are blank", lines.blank.size()));
  if (lines.empty > 0) text.push_back(fmt::format("{} above others", counted(lines.empty, "blank line")));
  if (lines.trailing > 0) text.push_back(fmt::format("{} at the end", counted(lines.trailing, "blank line")));
  return fmt::format("{}", fmt::join(text, ", "));
}

}  // namespace

LabelLayout lay_out_labels(const LabelLines& table, const LabelledRows& labelled, const std::string& path, const char* noun) {
  const std::size_t rows = labelled.count;
  const std::vector<LabelLine>& lines = table.filled;
  LabelLayout layout;
  if (lines.empty() || rows == 0) refuse_count(table, FirstLine::either, rows, path, noun);
  const bool in_order = labelled.placing == Placing::in_order;
  FirstLine first = judge_first_line(table, labelled.names);
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
  if (readings.size() > 1)
    throw Error(Failure::input,
                fmt::format("{}: {}, and {} ({}) may be a header or a {}: for {} it can be read either way", path,
                            blank_text(table), first_line, quoted_some(lines[0]), noun, counted(rows, "row")),
                "take blank lines out; a row without labels is a line of empty cells, or NA");
  if (readings.empty() || !readings[0].fits) refuse_count(table, first, rows, path, noun);
  const Reading reading = readings[0];
  const std::size_t given = lines.size() + (reading.blanks ? table.blank.size() : 0);
  const bool whole_table = given == rows + labelled.left_out && !heading_for_certain(table, labelled.names);
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
