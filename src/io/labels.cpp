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

// Lines of a table. An empty line of a table of one column is a missing label; of several it is blank. Those at the end are kept apart.
LabelLines lines_of(const std::string& path) {
  const SequentialFile file(path);
  LineReader reader(file.descriptor(), path);
  LabelLines table;
  std::vector<LabelLine>& lines = table.filled;
  char separator = '\0';
  std::size_t empty = 0;  // lines since the last that was not
  for (std::string_view line; reader.next(line);) {
    if (reader.number() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (trimmed(line).empty()) {
      ++empty;
      continue;
    }
    if (line.find('\0') != std::string_view::npos)
      throw Error(Failure::input, fmt::format("{}, line {}: not text (a zero byte)", path, reader.number()),
                  "give labels as text, a line a row");
    if (lines.empty()) {
      separator = find_separator(line.substr(std::min(line.find_first_not_of('#'), line.size())));  // "#3" is no comment
      if (separator == blanks) separator = '\n';                                                    // "T cell" is one word
    }
    LabelLine cells;
    std::string_view cell;
    for (Cells all(line, separator); all.next(cell);) {
      if (cell.size() > longest_word)
        throw Error(Failure::input,
                    fmt::format("{}, line {}: a label of {} bytes; at most {} are read", path, reader.number(), cell.size(),
                                longest_word),
                    "shorten the labels");
      cells.push_back(plain_text(cell));
    }
    if (!lines.empty() && cells.size() != lines.front().size())
      throw Error(Failure::input,
                  fmt::format("{}, line {}: {} cells, but the first line has {}", path, reader.number(), cells.size(),
                              lines.front().size()),
                  "every line needs the same number of cells");
    if (cells.size() == 1) lines.insert(lines.end(), empty, LabelLine(1));
    else table.blank.insert(table.blank.end(), empty, lines.size());
    empty = 0;
    lines.push_back(std::move(cells));
  }
  table.trailing = empty;
  return table;
}

Labels column_of(const std::vector<LabelLine>& lines, std::size_t column, const LabelLayout& layout, bool clusters) {
  Labels labels;
  NumberReader read(false);
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
  if (binary(path)) return numbers_from({path}, rows.count, kind);
  const LabelLines table = lines_of(path);
  const std::vector<LabelLine>& lines = table.filled;
  const LabelLayout layout = lay_out_labels(table, rows, path, kind.noun);
  if (notes != nullptr)
    for (const std::string& remark : layout.remarks) notes->push_back(fmt::format("{}: {}", path, remark));
  std::vector<Labels> labels;
  for (std::size_t column = 0; column < lines[0].size(); ++column) {
    if (column == layout.names) continue;
    labels.push_back(column_of(lines, column, layout, kind.clusters));
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
  return files.size() > 1 ? numbers_from(files, rows.count, target_kind) : read_columns(files.at(0), rows, target_kind, notes);
}

void require_numbers(const Labels& column, const std::string& file) {
  NumberReader read(false);
  for (std::size_t i = 0; i < column.words.size(); ++i)
    if (!column.words[i].empty() && !read(column.words[i]))
      throw Error(Failure::input,
                  fmt::format("{}, {}: \"{}\" of row {} is not a number", file, column.name, column.words[i], i + 1),
                  "give numbers, with NA or an empty cell where there is none; --columns chooses the columns that hold them");
}

}  // namespace fd
