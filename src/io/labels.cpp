#include "io/labels.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/pieces.hpp"
#include "base/printable.hpp"
#include "io/open_points.hpp"
#include "io/sequential_file.hpp"
#include "io/text_line.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t most_clusters = 20;
constexpr std::size_t longest_word = 1000;  // bytes
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool binary(const std::string& path) {
  std::string name = path.substr(0, path.find(':'));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* suffix : {".npy", ".npz", ".h5", ".hdf5", ".h5ad"})
    if (name.size() > std::string_view(suffix).size() && name.ends_with(suffix)) return true;
  return false;
}

// What the columns of a file are to its reader.
struct Kind {
  const char* noun;
  bool clusters;  // few different whole numbers are words
};
constexpr Kind label_kind{"label", true}, target_kind{"target", false};

Error wrong_length(const std::string& path, std::size_t found, std::size_t rows, const Kind& kind) {
  return Error(Failure::input, fmt::format("{}: {} for {}", path, counted(found, kind.noun), counted(rows, "row")),
               "give one line a row of the model, in its order, with or without a header");
}

std::vector<Labels> numbers_from(const std::vector<std::string>& files, std::size_t rows, const Kind& kind) {
  ReadOptions options;
  options.vectors = true;
  const auto source = open_points(files, options);
  if (source->rows() != rows)
    throw wrong_length(files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1), source->rows(),
                       rows, kind);
  std::vector<Labels> labels(source->dimension());
  in_pieces(*source, [&](std::size_t, std::size_t count, const double* values) {
    for (std::size_t i = 0; i < count; ++i)
      for (Labels& column : labels) column.numbers.push_back(*values++);
  });
  for (std::size_t c = 0; c < labels.size(); ++c) labels[c].name = fmt::format("column {}", c + 1);
  return labels;
}

// Numbers in an array have no names beside them.
void refuse_names(const LabelledRows& rows, const std::string& path) {
  if (rows.placing == Placing::by_name)
    throw Error(Failure::input, fmt::format("{}: an array has no column that names its rows", path),
                "leave --by-name out, if its rows are in the model's order");
}

struct RawLine {
  std::size_t number;
  std::string text;
};

// What separates the cells; '\n' where nothing does. A first line without a separator above lines that have one each is what R writes: a heading for
// the labels and none for the names, which it keeps different.
char separator_of(const std::vector<RawLine>& lines) {
  const std::string_view first = lines[0].text;
  const char found = find_separator(first.substr(std::min(first.find_first_not_of('#'), first.size())));  // "#3" is no comment
  if (found != blanks) return found;
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

// Lines of a table. An empty line of a table of one column is a missing label; of several it is blank. Those at the end are kept apart.
LabelLines lines_of(const std::string& path) {
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
  const char separator = separator_of(raw);
  std::vector<LabelLine>& lines = table.filled;
  std::size_t before = 0;  // the line before
  for (const RawLine& line : raw) {
    LabelLine cells = cells_of(line, separator, path);
    const std::size_t empty = line.number - before - 1;
    if (separator == '\n') lines.insert(lines.end(), empty, LabelLine(1));
    else table.blank.insert(table.blank.end(), empty, lines.size());
    before = line.number;
    lines.push_back(std::move(cells));
  }
  table.trailing = reader.number() - before;
  table.decimal_commas = separator == ';';
  const auto shorter = [&](const LabelLine& line) { return line.size() == lines[0].size() + 1; };
  const auto ends_empty = [](const LabelLine& line) { return line.back().empty(); };
  if (lines.size() > 1 && std::all_of(lines.begin() + 1, lines.end(), shorter) &&
      !std::all_of(lines.begin() + 1, lines.end(), ends_empty)) {
    lines[0].insert(lines[0].begin(), std::string());
    table.headed = true;
  }
  for (std::size_t i = 0; i < raw.size() && separator != '\n'; ++i)
    if (lines[i].size() != lines[0].size())
      throw Error(
          Failure::input,
          fmt::format("{}, line {}: {} cells, but the first line has {}", path, raw[i].number, lines[i].size(), lines[0].size()),
          "every line needs the same number of cells");
  return table;
}

Labels column_of(const LabelLines& table, std::size_t column, const LabelLayout& layout, bool clusters) {
  const std::vector<LabelLine>& lines = table.filled;
  Labels labels;
  NumberReader read(table.decimal_commas);
  std::set<double> distinct;
  bool numeric = true, whole = true;
  const std::string nothing;
  const auto cell_of = [&](std::size_t line) -> const std::string& {
    return line == LabelLayout::none ? nothing : lines[line][column];
  };
  for (const std::size_t line : layout.lines) {
    const std::string& cell = cell_of(line);
    const auto value = read(cell);
    if (!value && !missing_word(cell)) numeric = false;
    labels.numbers.push_back(value.value_or(nan));
    if (!value || std::isnan(*value)) continue;
    whole = whole && *value == std::floor(*value);
    if (distinct.size() <= most_clusters) distinct.insert(*value);
  }
  if (clusters && numeric && whole && !distinct.empty() && distinct.size() <= most_clusters) numeric = false;
  if (!numeric) {
    labels.numbers.clear();
    for (const std::size_t line : layout.lines)
      labels.words.push_back(missing_word(cell_of(line)) ? std::string() : cell_of(line));
  }
  return labels;
}

std::vector<Labels> read_columns(const std::string& path, const LabelledRows& rows, const Kind& kind,
                                 std::vector<std::string>* notes) {
  if (binary(path)) {
    refuse_names(rows, path);
    return numbers_from({path}, rows.count, kind);
  }
  const LabelLines table = lines_of(path);
  const std::vector<LabelLine>& lines = table.filled;
  const LabelLayout layout = lay_out_labels(table, rows, path, kind.noun);
  if (notes != nullptr)
    for (const std::string& remark : layout.remarks) notes->push_back(fmt::format("{}: {}", path, remark));
  std::vector<Labels> labels;
  for (std::size_t column = 0; column < lines[0].size(); ++column) {
    if (column == layout.names) continue;
    labels.push_back(column_of(table, column, layout, kind.clusters));
    const bool headed = layout.header && !lines[0][column].empty();
    labels.back().name = headed ? lines[0][column] : fmt::format("column {}", column + 1);
  }
  return labels;
}

}  // namespace

std::vector<Labels> read_labels(const std::string& path, const LabelledRows& rows, std::vector<std::string>* notes) {
  return read_columns(path, rows, label_kind, notes);
}

std::vector<Labels> read_targets(const std::vector<std::string>& files, const LabelledRows& rows,
                                 std::vector<std::string>* notes) {
  if (files.size() == 1) return read_columns(files[0], rows, target_kind, notes);
  refuse_names(rows, files.at(0));
  return numbers_from(files, rows.count, target_kind);
}

void require_numbers(const Labels& column, const std::string& file) {
  for (const bool commas :
       {true, false}) {  // which of them decimals have in the file is not known here; one of the two finds the cell
    NumberReader read(commas);
    for (std::size_t i = 0; i < column.words.size(); ++i)
      if (!column.words[i].empty() && !read(column.words[i]))
        throw Error(Failure::input,
                    fmt::format("{}, {}: \"{}\" of row {} is not a number", file, column.name, column.words[i], i + 1),
                    "give numbers, with NA or an empty cell where there is none; --columns chooses the columns that hold them");
  }
}

}  // namespace fd
