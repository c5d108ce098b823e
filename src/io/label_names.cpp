#include "io/label_names.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t listed = 5;  // names in a sentence

using Places = std::unordered_map<std::string_view, std::size_t>;

// Names that a column holds, each counted once.
std::size_t named_in(const std::vector<LabelLine>& lines, std::size_t column, const Places& row_of, std::size_t rows) {
  std::vector<bool> seen(rows, false);
  std::size_t found = 0;
  for (const LabelLine& line : lines)
    if (const auto row = row_of.find(line[column]); row != row_of.end() && !seen[row->second]) seen[row->second] = true, ++found;
  return found;
}

bool in_order(const std::vector<LabelLine>& lines, std::size_t column, bool header, const std::vector<std::string>& names) {
  const std::size_t first = header ? 1 : 0;
  if (lines.size() != names.size() + first) return false;
  for (std::size_t row = 0; row < names.size(); ++row)
    if (lines[row + first][column] != names[row]) return false;
  return true;
}

bool all_numbers(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [](const std::string& name) { return NumberReader(false)(name).has_value(); });
}

// Numbers that are names of the model's rows in another spelling ("7.0" or "007" for "7") place nothing, and lines in their order may be other rows'.
void refuse_other_spelling(const std::vector<LabelLine>& lines, const std::vector<std::string>& names, const std::string& path) {
  if (!all_numbers(names)) return;
  NumberReader number(false);
  std::unordered_map<double, std::string_view> spelt;
  for (const std::string& name : names) spelt.emplace(*number(name), name);
  std::size_t known = 0;
  std::string_view here, there;
  for (const LabelLine& line : lines) {
    const auto value = number(line[0]);
    const auto name = value ? spelt.find(*value) : spelt.end();
    if (name == spelt.end()) continue;
    if (known++ == 0) here = line[0], there = name->second;
    spelt.erase(name);  // each counts once
  }
  if (2 * known < names.size()) return;
  throw Error(Failure::input,
              fmt::format("{}: the first column holds the names of the model's rows in another spelling, \"{}\" for \"{}\"", path,
                          here, there),
              "write them as the points have them; or leave the column out, with the lines in the model's order");
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
  if (!in_order(lines, layout.names, layout.header, names)) {
    std::vector<std::string> shared;
    for (std::size_t row = 0; row < names.size(); ++row)
      if (row_of.at(names[row]) != row && std::find(shared.begin(), shared.end(), names[row]) == shared.end() &&
          shared.size() <= listed)
        shared.push_back(names[row]);
    throw Error(
        Failure::input,
        fmt::format("{}: {} names rows of the model, but there several are called {}, and lines are not in the model's order",
                    path, place_text(layout.names), quoted_some(shared)),
        "put the lines in the model's order, a line a row; or give the rows names of their own, and fit again");
  }
  for (std::size_t row = 0; row < names.size(); ++row) layout.lines.push_back(row + (layout.header ? 1 : 0));
  layout.remarks.push_back(fmt::format("several rows share a name; lines are taken in order, which is that of the names in {}",
                                       place_text(layout.names)));
}

}  // namespace

std::string quoted_some(const std::vector<std::string>& words) {
  const std::size_t shown = std::min(listed, words.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", words[i]);
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

bool lay_out_by_names(const std::vector<LabelLine>& lines, bool header, const std::vector<std::string>& names,
                      const std::string& path, LabelLayout& layout) {
  if (names.empty() || lines[0].size() < 2) return false;
  Places row_of;
  for (std::size_t row = 0; row < names.size(); ++row) row_of.emplace(names[row], row);
  std::vector<std::size_t> found;
  for (std::size_t column = 0; column < lines[0].size(); ++column) found.push_back(named_in(lines, column, row_of, names.size()));
  auto best = static_cast<std::size_t>(std::max_element(found.begin(), found.end()) - found.begin());
  const auto headed = [&](std::size_t column) { return header && row_of.count(lines[0][column]) == 0; };
  // Behind the first column words that are names by chance are labels; numbers may be names or a rank of the rows.
  if (best > 0 && 2 * found[best] < row_of.size()) best = 0;
  if (best > 0 && all_numbers(names)) {
    if (found[best] == names.size() && lines.size() == names.size() + (headed(best) ? 1 : 0) &&
        !in_order(lines, best, headed(best), names))
      throw Error(Failure::input,
                  fmt::format("{}: column {} holds the names of the model's rows, numbers, in another order; names or a rank?",
                              path, best + 1),
                  "put it first, if lines are to be placed by it; leave it out, if they are in the model's order");
    best = 0;
  }
  // Names that most rows share are a kind of row: in another order they are other labels.
  const bool own = 2 * row_of.size() >= names.size();
  if (10 * found[best] < row_of.size() || !own) {
    if (own) refuse_other_spelling(lines, names, path);
    if (!all_numbers({lines.back()[0]}))
      layout.remarks.emplace_back(
          own || found[best] == 0 ? "the first column does not hold the names of the model's rows; lines are taken in order"
                                  : "most rows of the model share their names, which place nothing; lines are taken in order");
    return false;
  }
  layout.names = best;
  layout.header = headed(best);
  if (row_of.size() == names.size()) place(lines, names, row_of, path, layout);
  else require_order(lines, names, row_of, path, layout);
  return true;
}

}  // namespace fd
