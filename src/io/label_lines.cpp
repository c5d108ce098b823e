#include "io/label_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/sequential_file.hpp"
#include "io/text_doubt.hpp"
#include "io/text_line.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t longest_word = 1000;  // bytes

struct RawLine {
  std::size_t number;
  std::string text;
};

// Below a line that nothing separates all are numbers with a comma in them, or without, or missing.
bool decimal_commas_below(const std::vector<RawLine>& lines) {
  bool commas = false;
  return std::all_of(lines.begin() + 1, lines.end(),
                     [&](const RawLine& line) {
                       std::string_view cell;
                       Cells(line.text, '\n').next(cell);
                       commas = commas || cell.find(',') != std::string_view::npos;
                       return missing_word(cell) || NumberReader(true)(cell).has_value();
                     }) &&
         commas;
}

// What separates the cells; '\n' where nothing does. A first line without a separator above lines that have one each is what R writes: a heading for
// the labels and none for the names, which it keeps different.
char separator_of(const std::vector<RawLine>& lines, const std::string& path) {
  const std::string_view first = lines[0].text;
  const char found = find_separator(first.substr(std::min(first.find_first_not_of('#'), first.size())));  // "#3" is no comment
  if (found != blanks) return found;
  if (decimal_commas_below(lines))
    throw Error(Failure::input,
                fmt::format("{}, line {}: a decimal comma, or two cells below one heading", path, lines[1].number),
                "write decimal points; of two columns name both");
  for (const char separator : {';', '\t', ','}) {
    std::set<std::string_view> names;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      Cells cells(lines[i].text, separator);
      std::string_view name, label;
      if (!cells.next(name) || !cells.next(label) || cells.next(label) || !names.insert(name).second) break;
    }
    if (lines.size() > 1 && names.size() == lines.size() - 1) return separator;
  }
  return '\n';  // "T cell" is one word
}

// "AAC-1" "T cell": words in quotes with blanks between them.
bool quoted_words(std::string_view line) {
  std::size_t end = line.starts_with('"') ? 1 : line.size();
  while (end < line.size() && (line[end] != '"' || (end + 1 < line.size() && line[end + 1] == '"')))
    end += line[end] == '"' ? 2 : 1;
  return end + 2 < line.size() && (line[end + 1] == ' ' || line[end + 1] == '\t');
}

LabelLine cells_of(const RawLine& line, char separator, const std::string& path) {
  const auto refuse = [&](const std::string& what, const char* hint) {
    throw Error(Failure::input, fmt::format("{}, line {}: {}", path, line.number, what), hint);
  };
  if (separator == '\n' && quoted_words(line.text))
    refuse("words in quotes with blanks between them", "separate columns by commas: in R, sep = \",\" with col.names = NA");
  LabelLine cells;
  std::string_view cell;
  Cells all(line.text, separator);
  while (all.next(cell)) {
    if (all.open_quote()) refuse("a quote is not closed", "close it, and leave line ends out of cells");
    if (cell.size() > longest_word)
      refuse(fmt::format("a label of {} bytes; at most {} are read", cell.size(), longest_word), "shorten the labels");
    cells.push_back(plain_text(cell));
  }
  return cells;
}

// Of lines above the table those that begin with "#" are comments, unless lines below do too: then it belongs to names or labels.
std::size_t comments_above(const std::vector<RawLine>& lines) {
  const auto comment = [](const RawLine& line) { return without_comment(line.text, ',').empty(); };
  const auto table = std::find_if_not(lines.begin(), lines.end(), comment);
  return std::none_of(table, lines.end(), comment) && table != lines.end() ? static_cast<std::size_t>(table - lines.begin()) : 0;
}

// A first line that has a cell less than each other is what R writes: headings, and none above the names, which differ. Not where every line may be
// as long, with a decimal comma in it; R puts its names in quotes.
bool heads_no_names(const std::vector<RawLine>& raw, const std::vector<LabelLine>& lines, char separator) {
  const std::size_t cells = lines[0].size() + 1;
  if (lines.size() < 2 || lines[0][0].empty()) return false;
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (lines[i].size() != cells || !names.insert(lines[i][0]).second) return false;
  const auto all = [&](const auto& have) { return std::all_of(lines.begin() + 1, lines.end(), have); };
  if (all([](const LabelLine& line) { return line.back().empty(); })) return false;
  const bool quoted = std::all_of(raw.begin() + 1, raw.end(), [](const RawLine& line) { return line.text.starts_with('"'); });
  for (std::size_t at = 0; at + 1 < cells && separator == ',' && !quoted; ++at)
    if (all([&](const LabelLine& line) { return half_of_a_number(line[at], true) && half_of_a_number(line[at + 1], false); }))
      return false;
  return true;
}

LabelLines lines_of_one(const std::string& path) {
  const SequentialFile file(path);
  LineReader reader(file.descriptor(), path);
  std::vector<RawLine> raw;  // that are not blank
  for (std::string_view line; reader.next(line);) {
    if (reader.number() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    for (const char c : {'\0', '\r'})
      if (line.find(c) != std::string_view::npos)
        throw Error(Failure::input,
                    fmt::format("{}, line {}: {}", path, reader.number(),
                                c == '\0' ? "not text (a zero byte)" : "a carriage return inside the line"),
                    "give labels as text, a line a row, lines ended by a line feed");
    if (!trimmed(line).empty()) raw.push_back({reader.number(), std::string(line)});
  }
  LabelLines table;
  if (raw.empty()) return table;
  if (const std::size_t comments = comments_above(raw); comments > 0) {
    raw.erase(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(comments));
    table.above = raw[0].number - 1;
  }
  const char separator = separator_of(raw, path);
  std::vector<LabelLine>& lines = table.filled;
  std::size_t before = table.above;  // the line before
  for (const RawLine& line : raw) {
    LabelLine cells = cells_of(line, separator, path);
    const std::size_t empty = line.number - before - 1;
    if (separator == '\n') lines.insert(lines.end(), empty, LabelLine(1)), table.empty += empty;
    else table.blank.insert(table.blank.end(), empty, lines.size());
    before = line.number;
    lines.push_back(std::move(cells));
  }
  table.trailing = reader.number() - before;
  table.decimal_commas = separator == ';';
  table.halves = separator == ',' && std::all_of(lines.begin(), lines.end(), [](const LabelLine& line) {
                   return line.size() == 2 && half_of_a_number(line[0], true) && half_of_a_number(line[1], false);
                 });
  if (heads_no_names(raw, lines, separator)) {
    lines[0].insert(lines[0].begin(), std::string());
    table.headed = true;
  }
  for (std::size_t i = 0; i < raw.size() && separator != '\n'; ++i)
    if (lines[i].size() != lines[0].size())
      throw Error(
          Failure::input,
          fmt::format("{}, line {}: {} cells, but the first line has {}", path, raw[i].number, lines[i].size(), lines[0].size()),
          separator == ',' ? "every line needs the same number of cells; decimal commas separate cells too: write points"
                           : "every line needs the same number of cells");
  return table;
}

// The lines of `next` below those of `table`, under its header.
void append(LabelLines& table, LabelLines&& next, const std::string& first_file, const std::string& file) {
  const auto refuse = [&](const std::string& what, const char* hint) {
    throw Error(Failure::input, fmt::format("{}: {}", file, what), hint);
  };
  constexpr const char* alike = "files that are stacked need the same columns, below the same header or none";
  if (next.filled.empty()) refuse("no lines", alike);
  const bool header = judge_first_line(table) == FirstLine::header;
  for (const LabelLines* one : {&std::as_const(table), &std::as_const(next)})
    if (const FirstLine first = judge_first_line(*one); header ? first != FirstLine::header : !looks_like_label(first))
      throw Error(Failure::input,
                  fmt::format("{}: whether line 1 is a header is not certain, or not the same as in {}",
                              one == &table ? first_file : file, one == &table ? file : first_file),
                  "give each file the same header, or join them into one");
  if (next.filled[0].size() != table.filled[0].size() || next.decimal_commas != table.decimal_commas)
    refuse(fmt::format("other columns or another separator than in {}", first_file), alike);
  if (header && next.filled[0] != table.filled[0]) refuse(fmt::format("another header than in {}", first_file), alike);
  const std::size_t skipped = header ? 1 : 0, above = table.filled.size() - skipped;
  for (const std::size_t at : next.blank)
    if (at >= skipped) table.blank.push_back(above + at);
  table.trailing += next.trailing;
  table.empty += next.empty;
  std::move(next.filled.begin() + static_cast<std::ptrdiff_t>(skipped), next.filled.end(), std::back_inserter(table.filled));
}

}  // namespace

LabelLines read_label_lines(const std::vector<std::string>& files) {
  LabelLines table = lines_of_one(files[0]);
  table.ends = {table.filled.size()};
  for (std::size_t i = 1; i < files.size(); ++i) {
    append(table, lines_of_one(files[i]), files[0], files[i]);
    table.ends.push_back(table.filled.size());
  }
  return table;
}

}  // namespace fd
