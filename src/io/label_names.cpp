#include "io/label_names.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/text_number.hpp"

namespace fd {
namespace {

using Places = std::unordered_map<std::string_view, std::size_t>;

// What a column says of rows that are called so.
struct Named {
  std::size_t rows = 0;   // that it names, each counted once
  bool whole = false;     // every line names a row, and no two the same
  bool in_order = false;  // and they stand as the rows do
};

// Are these the rows' names? `spelt`: as a cell is looked for. A first line that may be a header is one if it names no row.
template <class Spelling>
Named ask(const std::vector<LabelLine>& lines, std::size_t column, bool header, const Places& row_of, Spelling&& spelt) {
  Named named{0, true, true};
  std::unordered_set<std::size_t> seen;
  std::size_t before = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = row_of.find(spelt(lines[i][column]));
    if (found == row_of.end()) {
      if (i > 0 || !header) named.whole = false;
      continue;
    }
    if (!seen.insert(found->second).second) named.whole = false;
    if (seen.size() > 1 && found->second < before) named.in_order = false;
    before = found->second;
  }
  named.rows = seen.size();
  named.whole = named.whole && named.rows > 0;
  named.in_order = named.in_order && named.whole;
  return named;
}

const std::string& as_written(const std::string& cell) { return cell; }

// "7" of "7", "7.0" and "007"; empty where there is no number.
std::string by_value(const std::string& cell) {
  const auto value = NumberReader(false)(cell);
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

Places places_of(const std::vector<std::string>& names) {
  Places row_of;
  for (std::size_t row = 0; row < names.size(); ++row) row_of.emplace(names[row], row);
  return row_of;
}

bool all_numbers(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [](const std::string& name) { return !by_value(name).empty(); });
}

// Numbers that are names of the model's rows in another spelling ("7.0" or "007" for "7") place nothing, and lines in their order may be other
// rows'. Where every row has its line in its place already there is nothing to place.
void refuse_other_spelling(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names,
                           const std::string& path) {
  if (!all_numbers(names)) return;
  std::vector<std::string> values;
  for (const std::string& name : names) values.push_back(by_value(name));
  const Places row_of = places_of(values);
  const Named named = ask(lines, 0, header, row_of, by_value);
  if (2 * named.rows < names.size() || (named.in_order && named.rows == names.size())) return;
  for (const LabelLine& line : lines)
    if (const auto row = row_of.find(by_value(line[0])); row != row_of.end() && names[row->second] != line[0])
      throw Error(Failure::input,
                  fmt::format("{}: the first column holds the names of the model's rows in another spelling, \"{}\" for \"{}\"",
                              path, line[0], names[row->second]),
                  "write them as the points have them; or leave the column out, with the lines in the model's order");
}

// The numbers that rows without names of their own have, from 1: those that drop-rows kept are called "row 7". Empty where names are the rows' own.
std::vector<std::size_t> numbers_of(const std::vector<std::string>& names, std::size_t rows) {
  std::vector<std::size_t> numbers;
  constexpr std::string_view row = "row ";
  for (std::size_t i = 0; i < rows; ++i) {
    if (names.empty()) numbers.push_back(i + 1);
    else if (names[i].starts_with(row) && digits_only(std::string_view(names[i]).substr(row.size())) && names[i].size() < 24)
      numbers.push_back(std::stoull(names[i].substr(row.size())));
    else return {};
  }
  return numbers;
}

// A column that numbers the rows, from 0 or from 1, in another order than theirs: it may as well be a rank.
void refuse_other_order(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names, std::size_t rows,
                        const std::string& path) {
  std::vector<std::vector<std::size_t>> numberings = {numbers_of({}, rows)};
  if (!names.empty()) numberings.push_back(numbers_of(names, rows));
  for (const auto& numbers : numberings)
    for (const std::size_t back : {0, 1}) {
      std::vector<std::string> texts;
      for (const std::size_t number : numbers) texts.push_back(fmt::format("{}", static_cast<double>(number - back)));
      const Named named = ask(lines, 0, header, places_of(texts), by_value);
      if (named.whole && !named.in_order)
        throw Error(
            Failure::input,
            fmt::format("{}: the first column numbers the rows, in another order than the model's; an index or a rank?", path),
            "sort the lines by it, if it is an index; put another column first, if they are in the model's order");
    }
}

// Words of which each line has its own are what rows are called, and so another table's where the model has none of them.
void refuse_other_names(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names,
                        const std::string& path) {
  std::unordered_map<std::string_view, std::size_t> counts;
  std::size_t once = 0, all = 0;
  for (std::size_t i = header ? 1 : 0; i < lines.size(); ++i)
    if (!missing_word(lines[i][0])) ++counts[lines[i][0]], ++all;
  for (const auto& [word, count] : counts) once += count == 1 ? 1 : 0;
  if (all < 2 || 2 * once <= all || std::all_of(lines.begin() + 1, lines.end(), [](const LabelLine& line) {
        return missing_word(line[0]) || !by_value(line[0]).empty();
      }))
    return;
  std::vector<std::string> theirs;
  for (std::size_t i = header ? 1 : 0; i < lines.size(); ++i) theirs.push_back(lines[i][0]);
  throw Error(
      Failure::input,
      fmt::format("{}: the first column holds names, {}, and hardly a row of the model has one of them; they are called {}", path,
                  quoted_some(theirs, 2), quoted_some(names, 2)),
      "write them as the points have them; or leave the column out or put another first, with the lines in the model's order");
}

std::string place_text(std::size_t column) { return column == 0 ? "the first column" : fmt::format("column {}", column + 1); }

[[noreturn]] void refuse(const std::string& path, std::size_t column, const std::string& what) {
  throw Error(Failure::input, fmt::format("{}: {} names rows of the model, but {}", path, place_text(column), what),
              "give every row one line with its name; or leave the column of names out, with the lines in the model's order");
}

void place(const std::vector<LabelLine>& lines, const std::vector<std::string>& names, const Places& row_of,
           const std::string& path, LabelLayout& layout) {
  std::vector<std::string> doubled, strange, lacking;
  layout.lines.assign(names.size(), LabelLayout::none);
  for (std::size_t i = layout.header ? 1 : 0; i < lines.size(); ++i) {
    const std::string& name = lines[i][layout.names];
    const auto row = row_of.find(name);
    if (row == row_of.end()) strange.push_back(name);
    else if (layout.lines[row->second] != LabelLayout::none) doubled.push_back(name);
    else layout.lines[row->second] = i;
  }
  for (std::size_t row = 0; row < names.size(); ++row)
    if (layout.lines[row] == LabelLayout::none) lacking.push_back(names[row]);
  if (!doubled.empty())
    refuse(path, layout.names,
           fmt::format("{} more than one line", quoted_some(doubled) + (doubled.size() == 1 ? " has" : " have")));
  if (!lacking.empty())
    refuse(path, layout.names,
           fmt::format("{} no line{}", quoted_some(lacking) + (lacking.size() == 1 ? " has" : " have"),
                       strange.empty() ? "" : fmt::format("; no row is called {}", quoted_some(strange))));
  layout.remarks.push_back(fmt::format("lines are placed by the row names in {}", place_text(layout.names)));
  if (!strange.empty())
    layout.remarks.push_back(fmt::format("{} left out, of names that no row of the model has: {}",
                                         strange.size() == 1 ? "1 line is" : fmt::format("{} lines are", strange.size()),
                                         quoted_some(strange)));
}

// Several rows of one name: a line cannot say which of them it means.
void require_order(const std::vector<LabelLine>& lines, const std::vector<std::string>& names, const Places& row_of,
                   const std::string& path, LabelLayout& layout) {
  const std::size_t first = layout.header ? 1 : 0;
  bool in_order = lines.size() == names.size() + first;
  for (std::size_t row = 0; in_order && row < names.size(); ++row) in_order = lines[row + first][layout.names] == names[row];
  if (!in_order) {
    std::vector<std::string> shared;
    for (std::size_t row = 0; row < names.size(); ++row)
      if (row_of.at(names[row]) != row && std::find(shared.begin(), shared.end(), names[row]) == shared.end() &&
          shared.size() <= 5)
        shared.push_back(names[row]);
    throw Error(
        Failure::input,
        fmt::format("{}: {} names rows of the model, but there several are called {}, and lines are not in the model's order",
                    path, place_text(layout.names), quoted_some(shared)),
        "put the lines in the model's order, a line a row; or give the rows names of their own, and fit again");
  }
  for (std::size_t row = 0; row < names.size(); ++row) layout.lines.push_back(row + first);
  layout.remarks.push_back(fmt::format("several rows share a name; lines are taken in order, which is that of the names in {}",
                                       place_text(layout.names)));
}

}  // namespace

std::string quoted_some(const std::vector<std::string>& words, std::size_t most) {
  const std::size_t shown = std::min(most, words.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", words[i]);
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

bool lay_out_by_names(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names, std::size_t rows,
                      const std::string& path, LabelLayout& layout) {
  if (lines[0].size() < 2) return false;
  const Places row_of = places_of(names);
  std::vector<Named> asked;
  for (std::size_t column = 0; column < lines[0].size(); ++column)
    asked.push_back(ask(lines, column, header, row_of, as_written));
  auto best = static_cast<std::size_t>(
      std::max_element(asked.begin(), asked.end(), [](const Named& a, const Named& b) { return a.rows < b.rows; }) -
      asked.begin());
  // Behind the first column words that are names by chance are labels; numbers may be names or a rank of the rows.
  if (best > 0 && 2 * asked[best].rows < row_of.size()) best = 0;
  if (best > 0 && all_numbers(names)) {
    if (asked[best].whole && asked[best].rows == names.size()) {
      if (asked[best].in_order) return false;  // each line has its row
      throw Error(Failure::input,
                  fmt::format("{}: column {} holds the names of the model's rows, numbers, in another order; names or a rank?",
                              path, best + 1),
                  "put it first, if lines are to be placed by it; leave it out, if they are in the model's order");
    }
    best = 0;
  }
  // Names that most rows share are a kind of row: in another order they are other labels.
  const bool own = !names.empty() && 2 * row_of.size() >= names.size();
  if (own && 10 * asked[best].rows >= row_of.size()) {
    layout.names = best;
    layout.header = header && row_of.count(lines[0][best]) == 0;
    if (row_of.size() == names.size()) place(lines, names, row_of, path, layout);
    else require_order(lines, names, row_of, path, layout);
    return true;
  }
  if (own) {
    refuse_other_spelling(lines, header, names, path);
    if (numbers_of(names, rows).empty()) refuse_other_names(lines, header, names, path);
  }
  refuse_other_order(lines, header, names, rows, path);
  if (!names.empty() && by_value(lines.back()[0]).empty())
    layout.remarks.emplace_back(own || asked[best].rows == 0
                                    ? "the first column does not hold the names of the model's rows; lines are taken in order"
                                    : "most rows of the model share their names, which place nothing; lines are taken in order");
  return false;
}

}  // namespace fd
