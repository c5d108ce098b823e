#include "io/labels.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>
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

using Line = std::vector<std::string>;

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

std::vector<Line> lines_of(const std::string& path) {
  const SequentialFile file(path);
  LineReader reader(file.descriptor(), path);
  std::vector<Line> lines;
  char separator = '\0';
  for (std::string_view line; reader.next(line);) {
    if (lines.empty() && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (trimmed(line).empty()) continue;
    if (line.find('\0') != std::string_view::npos)
      throw Error(Failure::input, fmt::format("{}, line {}: not text (a zero byte)", path, reader.number()),
                  "give labels as text, a line a row");
    if (lines.empty()) separator = find_separator(line) == blanks ? '\n' : find_separator(line);  // "T cell" is one word
    Line cells;
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
    lines.push_back(std::move(cells));
  }
  return lines;
}

// Where the line of each row is. In order, unless the first column names the rows.
std::vector<std::size_t> places_by_name(const std::vector<Line>& lines, const std::vector<std::string>& names) {
  std::unordered_map<std::string, std::size_t> line_of;
  for (std::size_t i = 0; i < lines.size(); ++i) line_of.emplace(lines[i][0], i);
  if (names.empty() || lines[0].size() < 2 || line_of.size() != lines.size()) return {};
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = line_of.find(name);
    if (found == line_of.end()) return {};
    places.push_back(found->second);
  }
  return places;
}

// `clusters`: few different whole numbers are words.
Labels column_of(const std::vector<Line>& lines, std::size_t column, const std::vector<std::size_t>& places, bool clusters) {
  Labels labels;
  NumberReader read(false);
  std::set<double> distinct;
  bool numeric = true, whole = true;
  for (const Line& line : lines) {
    const std::string& cell = line[column];
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
    for (const Line& line : lines) labels.words.push_back(missing_word(line[column]) ? std::string() : line[column]);
  }
  const auto placed = [&](auto& values) {
    auto moved = values;
    for (std::size_t i = 0; i < values.size(); ++i) moved[i] = std::move(values[places[i]]);
    values = std::move(moved);
  };
  if (!places.empty()) placed(labels.words), placed(labels.numbers);
  return labels;
}

std::vector<Labels> read_columns(const std::string& path, std::size_t rows, const std::vector<std::string>& names,
                                 const Kind& kind) {
  if (binary(path)) return numbers_from({path}, rows, kind);
  std::vector<Line> lines = lines_of(path);
  Line heads;
  if (lines.size() == rows + 1) {
    heads = std::move(lines.front());
    lines.erase(lines.begin());
  }
  if (lines.size() != rows || rows == 0) throw wrong_length(path, lines.size(), rows, kind);
  const std::vector<std::size_t> places = places_by_name(lines, names);
  std::vector<Labels> labels;
  for (std::size_t column = places.empty() ? 0 : 1; column < lines[0].size(); ++column) {
    labels.push_back(column_of(lines, column, places, kind.clusters));
    labels.back().name = !heads.empty() && !heads[column].empty() ? heads[column] : fmt::format("column {}", column + 1);
  }
  return labels;
}

}  // namespace

std::vector<Labels> read_labels(const std::string& path, std::size_t rows, const std::vector<std::string>& names) {
  return read_columns(path, rows, names, label_kind);
}

std::vector<Labels> read_targets(const std::vector<std::string>& files, std::size_t rows, const std::vector<std::string>& names) {
  return files.size() > 1 ? numbers_from(files, rows, target_kind) : read_columns(files.at(0), rows, names, target_kind);
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
