#include "io/labels.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/pieces.hpp"
#include "io/label_lines.hpp"
#include "io/label_names.hpp"
#include "io/open_points.hpp"
#include "io/text_number.hpp"
#include "io/whole_number.hpp"

namespace fd {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Files = std::vector<std::string>;

// By its ending; else it is text.
bool holds_arrays(const std::string& path) {
  std::string name = path.substr(0, path.find(':'));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* suffix : {".npy", ".npz", ".h5", ".hdf5", ".h5ad"})
    if (name.size() > std::string_view(suffix).size() && name.ends_with(suffix)) return true;
  return false;
}

// What a caller reads: what it is called, where notes go, and which file each row is from.
struct Request {
  const LabelledRows& rows;
  const char* noun;
  bool rounds;  // whole numbers that no double holds; else a column that has any is words, so that they stay apart
  std::vector<std::string>* notes;
  std::vector<std::size_t>* file_of_row = nullptr;
  void note(const std::string& path, const LabelLayout& layout) const {
    if (notes == nullptr) return;
    for (const std::string& remark : layout.remarks) notes->push_back(fmt::format("{}: {}", path, remark));
  }
  // `lines` of the rows, from 0 over all files; `ends`: where each of these ends, the last or not. What a blank line lacks may be from the first.
  void place(const std::vector<std::size_t>& lines, const std::vector<std::size_t>& ends) const {
    if (file_of_row == nullptr) return;
    for (const std::size_t line : lines) {
      const auto file = std::upper_bound(ends.begin(), ends.end(), line) - ends.begin();
      file_of_row->push_back(line == LabelLayout::none ? 0 : static_cast<std::size_t>(file));
    }
  }
};

// Names beside arrays, of all of them; or none. In some of several they say less than all, and more than nothing.
Files names_of(const PointSource& source, const Files& files, const ReadOptions& options) {
  Files names = source.row_names();
  for (std::size_t i = 0; names.empty() && files.size() > 1 && i < files.size(); ++i)
    if (!open_points({files[i]}, options)->row_names().empty())
      throw Error(Failure::input, fmt::format("{} names its rows, and other files do not", files[i]),
                  "--in-order, if the rows of all are in the model's order");
  return names;
}

// Rows of arrays that have names beside them find those of the model as lines of text do, by a column of names. Empty: in order.
std::vector<std::size_t> lines_of_names(const Files& names, const std::string& path, const Request& request) {
  const LabelledRows& rows = request.rows;
  if (names.empty() && rows.placing == Placing::by_name)
    throw Error(Failure::input, fmt::format("{}: an array without names beside it", path),
                "leave --by-name out, if its rows are in the model's order");
  if (names.empty()) return {};
  LabelLines table;
  table.headed = true;
  table.first_column = "the list of names beside the array";
  table.filled.push_back({"name", ""});
  for (const std::string& name : names) table.filled.push_back({name, ""});
  LabelLayout layout;
  const bool placed = lay_out_by_names(table, FirstLine::header, rows, path, layout);
  request.note(path, layout);
  if (!placed) return {};
  for (std::size_t& line : layout.lines) --line;  // below the header
  return layout.lines;
}

// The columns of arrays.
std::vector<std::vector<double>> columns_in(PointSource& source) {
  std::vector<std::vector<double>> columns(source.dimension());
  in_pieces(source, [&](std::size_t, std::size_t count, const double* values) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::vector<double>& column : columns) column.push_back(*values++);
  });
  return columns;
}

// What rounding to doubles took from the numbers of arrays, where it may have taken something.
std::vector<std::vector<double>> roundings_in(const Files& files, ReadOptions options,
                                              const std::vector<std::vector<double>>& columns) {
  const auto may_be_rounded = [](double value) { return std::isfinite(value) && std::abs(value) >= 9007199254740992.0; };  // 2^53
  if (std::none_of(columns.begin(), columns.end(),
                   [&](const auto& column) { return std::any_of(column.begin(), column.end(), may_be_rounded); }))
    return {};
  options.roundings = true;
  return columns_in(*open_points(files, options));
}

std::vector<Labels> numbers_from(const Files& files, const std::string& path, const Request& request) {
  ReadOptions options;
  options.vectors = true;
  const auto source = open_points(files, options);
  std::vector<std::size_t> lines;
  if (request.rows.placing != Placing::in_order) lines = lines_of_names(names_of(*source, files, options), path, request);
  if (lines.empty() && source->rows() != request.rows.count)
    throw Error(Failure::input,
                fmt::format("{}: {} for {}", path, counted(source->rows(), request.noun), counted(request.rows.count, "row")),
                "give one line a row of the model, in its order, with or without a header");
  if (request.file_of_row != nullptr) {
    std::vector<std::size_t> ends, in_order(source->rows());
    for (std::size_t i = 0; i + 1 < files.size(); ++i)
      ends.push_back((ends.empty() ? 0 : ends.back()) + open_points({files[i]}, options)->rows());
    std::iota(in_order.begin(), in_order.end(), std::size_t{0});
    request.place(lines.empty() ? in_order : lines, ends);
  }
  std::vector<Labels> labels(source->dimension());
  const auto columns = columns_in(*source);
  const auto roundings = request.rounds ? std::vector<std::vector<double>>() : roundings_in(files, options, columns);
  for (std::size_t c = 0; c < labels.size(); ++c) {
    labels[c].name = fmt::format("column {}", c + 1);
    const bool words =
        !roundings.empty() && std::any_of(roundings[c].begin(), roundings[c].end(), [](double r) { return r != 0; });
    for (std::size_t row = 0; row < request.rows.count; ++row) {
      const std::size_t line = lines.empty() ? row : lines[row];
      const double value = columns[c][line];
      if (!words) labels[c].numbers.push_back(value);
      else labels[c].words.push_back(std::isnan(value) ? std::string() : number_text(value, roundings[c][line]));
    }
  }
  return labels;
}

Labels column_of(const LabelLines& table, std::size_t column, const LabelLayout& layout, bool rounds) {
  Labels labels;
  NumberReader read(table.decimal_commas);
  bool numeric = true, exact = true;
  const std::string nothing;
  const auto cell_of = [&](std::size_t line) -> const std::string& {
    return line == LabelLayout::none ? nothing : table.filled[line][column];
  };
  for (const std::size_t line : layout.lines) {
    const auto value = read(cell_of(line));
    if (!value && !missing_word(cell_of(line))) numeric = false;
    exact = exact && !(value && rounded(cell_of(line), *value));
    labels.numbers.push_back(value.value_or(nan));
  }
  if (numeric && (exact || rounds)) return labels;
  for (std::size_t row = 0; row < layout.lines.size(); ++row) {
    const std::string& cell = cell_of(layout.lines[row]);
    const auto value = read(cell);
    labels.words.push_back(missing_word(cell) || (value && std::isnan(*value)) ? std::string() : cell);
  }
  labels.numbers.clear();
  return labels;
}

std::vector<Labels> read_columns(const Files& files, const Request& request) {
  const std::string path = files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
  const auto arrays = static_cast<std::size_t>(std::count_if(files.begin(), files.end(), holds_arrays));
  if (arrays > 0 && arrays < files.size())
    throw Error(Failure::input, fmt::format("{}: text and arrays are not stacked", path), "give all as text, or all as arrays");
  if (arrays > 0) return numbers_from(files, path, request);
  const LabelLines table = read_label_lines(files);
  const LabelLayout layout = lay_out_labels(table, request.rows, path, request.noun);
  request.note(path, layout);
  request.place(layout.lines, table.ends);
  const LabelLine& first = table.filled[0];
  std::vector<Labels> labels;
  for (std::size_t column = 0; column < first.size(); ++column) {
    if (column == layout.names) continue;
    labels.push_back(column_of(table, column, layout, request.rounds));
    labels.back().name = layout.header && !first[column].empty() ? first[column] : fmt::format("column {}", column + 1);
  }
  return labels;
}

}  // namespace

std::vector<Labels> read_labels(const std::string& path, const LabelledRows& rows, std::vector<std::string>* notes) {
  return read_columns({path}, {rows, "label", false, notes});
}

std::vector<Labels> read_targets(const std::vector<std::string>& files, const LabelledRows& rows, std::vector<std::string>* notes,
                                 std::vector<std::size_t>* file_of_row) {
  return read_columns(files, {rows, "target", true, notes, file_of_row});
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
