#include "io/label_names.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr const char* say_order = "--in-order, if the lines are in the model's order";

// "7" of "7", "7.0" and "007"; empty where there is no number.
std::string by_value(const std::string& cell) {
  const auto value = NumberReader(false)(cell);
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

// The names of the model's rows. Where all are numbers, they are known by their values, in whatever spelling.
class RowNames {
 public:
  explicit RowNames(const std::vector<std::string>& names) : names_(names) {
    for (const bool values : {true, false}) {
      by_value_ = values && !names.empty();
      row_of_.clear();
      for (std::size_t row = 0; row < names.size() && (!by_value_ || !by_value(names[row]).empty()); ++row)
        row_of_.emplace(key(names[row]), row);
      if (by_value_ && row_of_.size() == names.size()) return;
    }
  }

  std::optional<std::size_t> row(const std::string& cell) const {
    const auto found = row_of_.find(key(cell));
    return found == row_of_.end() ? std::nullopt : std::optional(found->second);
  }
  bool is_of(std::size_t row, const std::string& cell) const { return key(cell) == key(names_[row]); }
  bool numbers() const { return by_value_; }
  bool each_its_own() const { return !names_.empty() && row_of_.size() == names_.size(); }
  bool mostly_their_own() const { return !names_.empty() && 2 * row_of_.size() >= names_.size(); }
  std::vector<std::string> shared() const {
    std::vector<std::string> some;
    for (std::size_t row = 0; row < names_.size(); ++row)
      if (row_of_.at(key(names_[row])) != row && std::find(some.begin(), some.end(), names_[row]) == some.end())
        some.push_back(names_[row]);
    return some;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::string key(const std::string& cell) const { return by_value_ ? by_value(cell) : cell; }
  const std::vector<std::string>& names_;
  std::unordered_map<std::string, std::size_t> row_of_;
  bool by_value_ = false;
};

// What a column says of the rows.
struct Named {
  std::size_t first = 0;           // line below the header
  std::vector<std::size_t> lines;  // of each row that has its own name, or none
  std::vector<std::string> doubled, strange, lacking;
  std::size_t rows = 0, cells = 0;  // that it names, each once; that are names
  bool row_by_row = false;
  bool covers() const { return lacking.empty() && doubled.empty() && rows > 0; }
};

Named ask(const std::vector<LabelLine>& lines, std::size_t column, FirstLine first, const RowNames& names) {
  Named named;
  const std::size_t rows = names.all().size();
  if (rows == 0) return named;
  named.first = first == FirstLine::header || (first == FirstLine::either && !names.row(lines[0][column])) ? 1 : 0;
  named.lines.assign(rows, LabelLayout::none);
  named.row_by_row = lines.size() == rows + named.first;
  for (std::size_t line = named.first; line < lines.size(); ++line) {
    const std::string& cell = lines[line][column];
    named.row_by_row = named.row_by_row && names.is_of(line - named.first, cell);
    const auto row = names.row(cell);
    if (!row) {
      named.strange.push_back(cell);
      continue;
    }
    ++named.cells;
    if (named.lines[*row] != LabelLayout::none) named.doubled.push_back(cell);
    else named.lines[*row] = line, ++named.rows;
  }
  for (std::size_t row = 0; row < rows; ++row)
    if (names.row(names.all()[row]) == row && named.lines[row] == LabelLayout::none) named.lacking.push_back(names.all()[row]);
  return named;
}

// More than half of what it holds stands on one line alone: what rows are called, and no label.
bool each_line_its_own(const std::vector<LabelLine>& lines, std::size_t column, std::size_t first) {
  std::unordered_map<std::string_view, std::size_t> counts;
  std::size_t once = 0, all = 0;
  for (std::size_t line = first; line < lines.size(); ++line)
    if (!missing_word(lines[line][column])) ++counts[lines[line][column]], ++all;
  for (const auto& [word, count] : counts) once += count == 1 ? 1 : 0;
  return all > 1 && 2 * once > all;
}

bool words(const std::vector<LabelLine>& lines, std::size_t column, std::size_t first) {
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(),
                     [column](const LabelLine& line) { return !missing_word(line[column]) && by_value(line[column]).empty(); });
}

// In doubt: names of half of the rows, or some of them on lines of their own; of rows that share names, which are kinds of rows, half of the lines.
bool names_some(const Named& named, const std::vector<LabelLine>& lines, std::size_t column, const RowNames& names) {
  if (named.rows == 0 || (names.numbers() && column > 0)) return false;  // numbers behind another column are labels
  const std::size_t held = lines.size() - named.first, rows = names.all().size();
  if (!names.each_its_own() && 2 * named.cells >= held) return true;
  if (!names.numbers() && 2 * named.rows >= rows) return true;  // few numbers that recur are clusters
  return 10 * named.rows >= std::min(rows, held) && each_line_its_own(lines, column, named.first);
}

std::string place_text(std::size_t column) { return column == 0 ? "the first column" : fmt::format("column {}", column + 1); }

[[noreturn]] void refuse_some(const Named& named, std::size_t column, const RowNames& names, const std::string& path) {
  const auto start = fmt::format("{}: {} names rows of the model, but ", path, place_text(column));
  const auto have = [](const std::vector<std::string>& some) {
    return quoted_some(some) + (some.size() == 1 ? " has" : " have");
  };
  if (const auto shared = names.shared(); !shared.empty())
    throw Error(
        Failure::input,
        fmt::format("{}there several are called {}, and the lines are not in the model's order", start, quoted_some(shared)),
        fmt::format("put the lines in the model's order, a line a row; {}", say_order));
  std::string what;
  if (!named.doubled.empty()) what = fmt::format("{} more than one line", have(named.doubled));
  else if (!named.lacking.empty())
    what = fmt::format("{} no line{}", have(named.lacking),
                       named.strange.empty() ? "" : fmt::format("; no row is called {}", quoted_some(named.strange)));
  else what = "another column names them in another order";
  throw Error(Failure::input, start + what,
              fmt::format("give every row one line with its name; or leave the column of names out; {}", say_order));
}

// Words of which each line has its own are what rows are called, and so another table's where the model has none of them.
void refuse_other_names(const std::vector<LabelLine>& lines, FirstLine first, const RowNames& names, const std::string& path) {
  const std::size_t below = first == FirstLine::label ? 0 : 1;
  for (std::size_t column = 0; column < lines[0].size(); ++column) {
    if (!words(lines, column, below) || !each_line_its_own(lines, column, below)) continue;
    std::vector<std::string> theirs;
    for (std::size_t line = below; line < lines.size(); ++line) theirs.push_back(lines[line][column]);
    throw Error(Failure::input,
                fmt::format("{}: {} holds names, {}, and hardly a row of the model has one of them; they are called {}", path,
                            place_text(column), quoted_some(theirs, 2), quoted_some(names.all(), 2)),
                fmt::format("write them as the points have them, or leave the column out; {}", say_order));
  }
}

// The number at the end of a cell, where all of it before that is `prefix`: 5 of "#5" and "row 5".
std::optional<double> number_behind(const std::string& cell, std::string_view prefix) {
  if (prefix.empty()) {
    const auto value = NumberReader(false)(cell);
    return value && std::isfinite(*value) && *value == std::floor(*value) ? value : std::nullopt;
  }
  if (!cell.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = std::string_view(cell).substr(prefix.size());
  return digits_only(digits) ? NumberReader(false)(digits) : std::nullopt;
}

// Whole numbers, alone or behind one word, each on a line of its own.
struct Numbers {
  std::vector<double> values;
  bool nearly_all = false;  // lines have one, and no two the same
  bool all = false;
  bool dense = false;  // hardly one is left out between the smallest and the largest
  bool ascending = false;
  bool prefixed = false;
};

Numbers numbers_in(const std::vector<LabelLine>& lines, std::size_t column, FirstLine first) {
  const std::string& last = lines.back()[column];
  const std::size_t digits = last.find_last_not_of("0123456789");
  const bool number = number_behind(last, "").has_value();
  const std::string_view prefix =
      number || digits == std::string::npos ? std::string_view() : std::string_view(last).substr(0, digits + 1);
  std::size_t begin = first == FirstLine::header ? 1 : 0;
  if (first == FirstLine::either && !number_behind(lines[0][column], prefix)) begin = 1;
  Numbers found;
  for (std::size_t line = begin; line < lines.size(); ++line)
    if (const auto value = number_behind(lines[line][column], prefix)) found.values.push_back(*value);
  const std::size_t held = lines.size() - begin, count = found.values.size();
  const std::size_t distinct = std::unordered_set<double>(found.values.begin(), found.values.end()).size();
  const std::size_t few = held < 10 ? 0 : std::max<std::size_t>(1, held / 10);
  found.nearly_all = held > 1 && count + few >= held && distinct + few >= count;
  found.all = held > 1 && count == held && distinct == count;
  if (count > 0) {
    const auto [least, most] = std::minmax_element(found.values.begin(), found.values.end());
    found.dense = *most - *least <= 1.25 * static_cast<double>(held) + 2;
  }
  found.ascending = std::is_sorted(found.values.begin(), found.values.end());
  found.prefixed = !prefix.empty();
  return found;
}

// The numbers, from 1, of rows without names of their own that drop-rows kept: they are called "row 7". Empty for other names.
std::vector<double> numbers_kept(const std::vector<std::string>& names) {
  std::vector<double> numbers;
  for (const std::string& name : names) {
    const auto number = number_behind(name, "row ");
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

// Numbers in ascending order are an index of the lines as they stand. Where rows were left out before the fit it must be theirs, from 0 or 1, or
// one of the lines that are there.
bool index_of_the_rows(const std::vector<double>& values, const std::vector<std::string>& names) {
  const std::vector<double> kept = numbers_kept(names);
  if (kept.empty() || values.empty() || values.back() - values.front() + 1 == static_cast<double>(values.size())) return true;
  const double shift = kept.front() - values.front();
  return (shift == 0 || shift == 1) && kept.size() == values.size() &&
         std::equal(kept.begin(), kept.end(), values.begin(), [shift](double a, double b) { return a == b + shift; });
}

void refuse_other_order(const std::vector<LabelLine>& lines, FirstLine first, const std::vector<std::string>& names,
                        const std::string& path) {
  for (std::size_t column = 0; column < lines[0].size(); ++column) {
    const Numbers found = numbers_in(lines, column, first);
    const bool index = (found.nearly_all && found.dense) || (found.all && column == 0 && !found.prefixed);
    if (!index) continue;
    if (found.ascending && index_of_the_rows(found.values, names)) {
      if (column == 0) return;  // the lines stand as they are counted; numbers behind it are labels
      continue;
    }
    throw Error(Failure::input,
                found.ascending ? fmt::format("{}: {} numbers other rows than the model's, which are called {}", path,
                                              place_text(column), quoted_some(names, 2))
                                : fmt::format("{}: {} numbers the lines, in another order than they stand; an index or a rank?",
                                              path, place_text(column)),
                fmt::format("sort the lines by it, if it is an index; {}", say_order));
  }
}

// Text separated by blanks is one column, because labels have blanks too; rows' names or numbers in front of them are not labels.
void refuse_blanks(const std::vector<LabelLine>& lines, FirstLine first, const RowNames& names, const std::string& path) {
  std::vector<LabelLine> words;
  for (const LabelLine& line : lines) {
    const std::size_t blank = line[0].find_first_of(" \t");
    if (blank == std::string::npos) return;
    words.push_back({line[0].substr(0, blank)});
  }
  const Named named = ask(words, 0, first, names);
  const Numbers numbers = numbers_in(words, 0, first);
  if (!named.covers() && !names_some(named, words, 0, names) && !(numbers.nearly_all && numbers.dense && !numbers.ascending))
    return;
  throw Error(
      Failure::input,
      fmt::format("{}: what stands before the first blank, {}, names or numbers rows; but blanks separate no columns here", path,
                  quoted_some(words.back(), 1)),
      fmt::format("separate columns by commas or tabs; {}", say_order));
}

}  // namespace

std::string quoted_some(const std::vector<std::string>& words, std::size_t most) {
  const std::size_t shown = std::min(most, words.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", words[i]);
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

bool lay_out_by_names(const std::vector<LabelLine>& lines, FirstLine first, const std::vector<std::string>& names,
                      const std::string& path, LabelLayout& layout) {
  const RowNames row_names(names);
  if (lines[0].size() < 2) {
    refuse_blanks(lines, first, row_names, path);
    return false;
  }
  std::optional<std::size_t> naming;
  std::vector<Named> asked;
  for (std::size_t column = 0; column < lines[0].size(); ++column) asked.push_back(ask(lines, column, first, row_names));
  for (std::size_t column = 0; column < asked.size(); ++column) {
    const Named& named = asked[column];
    if (named.row_by_row || (row_names.each_its_own() && named.covers())) {
      if (naming && named.lines != asked[*naming].lines) refuse_some(named, column, row_names, path);
      if (!naming) naming = column;
      if (row_names.numbers() && column > 0 && !named.row_by_row)
        throw Error(Failure::input,
                    fmt::format("{}: column {} holds the names of the model's rows, numbers, in another order; names or a rank?",
                                path, column + 1),
                    fmt::format("put it first, if lines are to be placed by it; {}", say_order));
    } else if (names_some(named, lines, column, row_names)) {
      refuse_some(named, column, row_names, path);
    }
    if (row_names.numbers() && naming) break;
  }
  if (naming) {
    const Named& named = asked[*naming];
    layout.names = *naming;
    layout.header = named.first == 1;
    layout.lines = named.lines;
    if (named.row_by_row)
      for (std::size_t row = 0; row < names.size(); ++row) layout.lines[row] = row + named.first;
    layout.remarks.push_back(
        row_names.each_its_own()
            ? fmt::format("lines are placed by the row names in {}", place_text(*naming))
            : fmt::format("several rows share a name; lines are taken in order, which is that of the names in {}",
                          place_text(*naming)));
    if (!named.strange.empty())
      layout.remarks.push_back(
          fmt::format("{} left out, of names that no row of the model has: {}",
                      named.strange.size() == 1 ? "1 line is" : fmt::format("{} lines are", named.strange.size()),
                      quoted_some(named.strange)));
    return true;
  }
  refuse_other_order(lines, first, names, path);
  if (row_names.mostly_their_own() && numbers_kept(names).empty() && !row_names.numbers())
    refuse_other_names(lines, first, row_names, path);
  if (!names.empty() && words(lines, 0, 1))
    layout.remarks.emplace_back("no column holds the names of the model's rows; lines are taken in order");
  return false;
}

}  // namespace fd
