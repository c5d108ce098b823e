#include "io/label_names.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/label_count.hpp"
#include "io/text_line.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::string_view separators = " \t|:,;";
constexpr std::size_t few_enough_for_chance = 8;  // rows that are ordered by any number now and then
constexpr const char* say_order = "--in-order, if the lines are in the model's order";
constexpr const char* say_either = "--in-order, if the lines are in the model's order; --by-name, if it names their rows";

// Rows without names that --missing drop-rows kept are called "row 7".
std::optional<double> place_behind(std::string_view name) {
  constexpr std::string_view word = "row ";
  if (!name.starts_with(word) || !digits_only(name.substr(word.size()))) return std::nullopt;
  return exact_number(name.substr(word.size()), false).value_or(0);
}

std::vector<double> places_behind(const std::vector<std::string>& names) {
  std::vector<double> found;
  for (const std::string& name : names)
    if (const auto place = place_behind(name)) found.push_back(*place);
    else return {};
  return found;
}

// The names of the model's rows. Where all are numbers, they are known by their values, in whatever spelling.
class RowNames {
 public:
  RowNames(const std::vector<std::string>& names, bool commas) : names_(names), commas_(commas) {
    for (const std::string& name : names)
      if (const auto value = exact_number(name, false)) values_.push_back(*value);
    numbers_ = !names.empty() && values_.size() == names.size();
    if (numbers_ && std::unordered_set<double>(values_.begin(), values_.end()).size() < names.size()) numbers_ = false;
    for (std::size_t row = 0; row < names.size(); ++row)
      same_.push_back(row_of_.emplace(key(names[row], false), row).first->second);
    count_ = numbers_ ? values_ : places_behind(names);
    only_count_ = numbers_ && (values_[0] == 0 || values_[0] == 1);
    for (std::size_t row = 0; row < values_.size() && only_count_; ++row)
      only_count_ = values_[row] == values_[0] + static_cast<double>(row);
  }

  std::optional<std::size_t> row(const std::string& cell) const {
    const auto found = row_of_.find(key(cell, commas_));
    return found == row_of_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t first_called_like(std::size_t row) const { return same_[row]; }
  bool numbers() const { return numbers_; }
  bool each_its_own() const { return !names_.empty() && row_of_.size() == names_.size(); }
  bool mostly_their_own() const { return !names_.empty() && 2 * row_of_.size() > names_.size(); }
  bool only_count() const { return only_count_; }
  bool called_by_place() const { return !numbers_ && !count_.empty(); }
  bool are_places() const { return only_count_ || called_by_place(); }  // in a table, and so no names
  const std::vector<double>& places() const { return count_; }
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::string key(const std::string& cell, bool commas) const {
    if (!numbers_) return cell;
    const auto value = exact_number(cell, commas);
    return value ? fmt::format("{}", *value) : std::string();
  }

  const std::vector<std::string>& names_;
  bool commas_, numbers_ = false, only_count_ = false;
  std::vector<double> values_, count_;
  std::vector<std::size_t> same_;
  std::unordered_map<std::string, std::size_t> row_of_;
};

// What a column says of the rows.
struct Named {
  std::size_t first = 0;           // line below the header
  std::vector<std::size_t> lines;  // of each row that has its own name, or none
  std::vector<std::string> doubled, strange, lacking;
  std::size_t rows = 0;  // that it names
  bool row_by_row = false;
  bool covers() const { return lacking.empty() && doubled.empty() && rows > 0; }
};

class Asking {
 public:
  Asking(const LabelLines& table, FirstLine first, const LabelledRows& rows, const std::string& path)
      : table_(table),
        lines_(table.filled),
        first_(first),
        names_(rows.names, table.decimal_commas),
        rows_(rows.count),
        path_(path) {
    if (!rows.names.empty())
      for (std::size_t column = 0; column < lines_[0].size(); ++column) named_.push_back(ask(column));
  }

  // The column that places the lines.
  std::optional<std::size_t> by_name() const {
    if (lines_[0].size() < 2) refuse("there is one column, and so none that names the rows of others", say_order);
    if (names_.all().empty()) refuse("the rows of the model have no names to place lines by", say_order);
    if (!names_.each_its_own()) refuse("several rows of the model share a name, and lines cannot be placed by it", say_order);
    for (std::size_t column = 0; column < named_.size(); ++column)
      if (named_[column].covers()) return column;
    refuse_none();
  }

  // None where lines are taken in order, which `note` says.
  std::optional<std::size_t> if_certain(std::string& note) const {
    if (lines_[0].size() < 2) {
      refuse_hidden_column();
      return std::nullopt;
    }
    if (names_.each_its_own() && !names_.only_count()) {
      if (const auto column = certain_column()) return column;
      if (!names_.are_places() || any_called_by_place()) refuse_none();
    }
    return ordered_column(note);
  }

  const Named& named(std::size_t column) const { return named_[column]; }
  const RowNames& names() const { return names_; }
  std::string place(std::size_t column) const { return column == 0 ? table_.first_column : fmt::format("column {}", column + 1); }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(Failure::input, fmt::format("{}: {}", path_, what), hint);
  }
  static std::string have(const std::vector<std::string>& some) {
    return quoted_some(some) + (some.size() == 1 ? " has" : " have");
  }

  Named ask_from(std::size_t column, std::size_t first) const {
    const std::vector<std::string>& all = names_.all();
    Named named;
    named.first = first;
    named.lines.assign(all.size(), LabelLayout::none);
    named.row_by_row = lines_.size() == all.size() + first;
    for (std::size_t line = first; line < lines_.size(); ++line) {
      const std::string& cell = lines_[line][column];
      const auto row = names_.row(cell);
      named.row_by_row = named.row_by_row && row && *row == names_.first_called_like(line - first);
      if (!row) named.strange.push_back(cell);
      else if (named.lines[*row] != LabelLayout::none) named.doubled.push_back(cell);
      else named.lines[*row] = line, ++named.rows;
    }
    for (std::size_t row = 0; row < all.size(); ++row)
      if (names_.first_called_like(row) == row && named.lines[row] == LabelLayout::none) named.lacking.push_back(all[row]);
    return named;
  }

  // The first line is a row where its cell names one and the others do not name all; and else a header, or a line of no row.
  Named ask(std::size_t column) const {
    Named below = ask_from(column, 1);
    if (table_.headed || !names_.row(lines_[0][column])) {
      const bool called_like_rows = names_.called_by_place() && place_behind(lines_[0][column]);
      if (called_like_rows) below.row_by_row = false;
      if (called_like_rows || (looks_like_label(first_) && !below.row_by_row))
        below.first = 0, below.strange.insert(below.strange.begin(), lines_[0][column]);
      return below;
    }
    Named from_first = ask_from(column, 0);
    const bool fits = from_first.row_by_row || (from_first.covers() && names_.each_its_own());
    if (fits && first_ == FirstLine::header && lines_.size() > 1)
      refuse(
          fmt::format("the first line looks like a header, and {} names a row there: {}", place(column), quoted_some(lines_[0])),
          fmt::format("put a header above it, or take it out; {}", say_order));
    return fits || !below.covers() ? from_first : below;
  }

  // "row 7" in nearly all lines of a column names rows as the model does. A number alone may count other lines.
  bool any_called_by_place() const {
    for (std::size_t column = 0; column < lines_[0].size(); ++column) {
      const auto called = std::count_if(lines_.begin() + 1, lines_.end(),
                                        [&](const LabelLine& line) { return place_behind(line[column]).has_value(); });
      if (called > 0 && 10 * static_cast<std::size_t>(called) >= 9 * (lines_.size() - 1)) return true;
    }
    return false;
  }

  std::vector<double> values_in(std::size_t column) const {
    std::vector<double> values;
    for (std::size_t line = named_[column].first; line < lines_.size(); ++line)
      if (const auto value = exact_number(lines_[line][column], table_.decimal_commas)) values.push_back(*value);
    return values;
  }

  // Numbers in another order than the rows could be a rank, or count other lines, unless they are too far apart for either; or count the lines of
  // a larger table from a base that the names prove.
  bool no_rank(std::size_t column) const {
    const std::vector<double> values = values_in(column);
    const std::size_t strays = values.size() / 10;
    if (!dense(values, true) && !dense(values, true, strays) && !dense(names_.values(), true)) return true;
    if (numbered_columns()) return false;
    const std::size_t count = lines_.size() - named_[column].first;
    if (values.size() != count || count <= names_.all().size() || (values[0] != 0 && values[0] != 1)) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (values[i] != values[0] + static_cast<double>(i)) return false;
    const double proof = values[0] == 0 ? 0 : static_cast<double>(count);
    return std::find(names_.values().begin(), names_.values().end(), proof) != names_.values().end();
  }

  // A first line 0, 1, 2 … may be a header.
  bool numbered_columns() const {
    for (std::size_t column = 0; column < lines_[0].size(); ++column)
      if (lines_[0][column] != std::to_string(column)) return false;
    return true;
  }

  std::optional<std::size_t> certain_column() const {
    std::optional<std::size_t> certain, doubtful;
    for (std::size_t column = 0; column < named_.size(); ++column) {
      if (!named_[column].covers()) continue;
      if (names_.numbers() && !named_[column].row_by_row && !no_rank(column)) doubtful = column;
      else if (!certain) certain = column;
    }
    if (!certain && doubtful)
      refuse(
          fmt::format("{} holds the names of the model's rows, which are numbers, in another order: names, an index or a rank?",
                      place(*doubtful)),
          say_either);
    for (std::size_t column = 0; certain && column < named_.size(); ++column) {
      const Named& other = named_[column];
      if (names_.numbers() && ((named_[*certain].row_by_row && rows_ > few_enough_for_chance) || !other.covers())) continue;
      if (2 * other.rows >= names_.all().size() && 10 * other.doubled.size() <= other.rows &&
          other.lines != named_[*certain].lines)
        refuse(fmt::format("{} and {} name the rows of the model differently", place(*certain), place(column)),
               fmt::format("leave one of them out; {}, of which the first is taken", say_either));
    }
    return certain;
  }

  [[noreturn]] void refuse_none() const {
    const auto best =
        std::max_element(named_.begin(), named_.end(), [](const Named& a, const Named& b) { return a.rows < b.rows; });
    const std::string called = quoted_some(names_.all(), 2),
                      way = fmt::format("give every row a line with its name; {}", say_order);
    if (best->rows == 0)
      refuse(fmt::format("no column holds the names of the model's rows, which are called {}; {} holds {}", called, place(0),
                         quoted_some({lines_.back()[0]})),
             way);
    const std::string start =
        fmt::format("{} names rows of the model, but ", place(static_cast<std::size_t>(best - named_.begin())));
    if (!best->doubled.empty()) refuse(fmt::format("{}{} more than one line", start, have(best->doubled)), way);
    refuse(fmt::format("{}{} no line{}", start, have(best->lacking),
                       best->strange.empty() ? "" : fmt::format("; no row is called {}", quoted_some(best->strange))),
           way);
  }

  // Rows that share names, have none, or are counted: a column may show that the lines are in order, or in another.
  std::optional<std::size_t> ordered_column(std::string& note) const {
    std::optional<std::size_t> same;
    for (std::size_t column = 0; column < named_.size() && !same; ++column)
      if (named_[column].row_by_row) same = column;
    const bool shared = !names_.all().empty() && !names_.each_its_own();
    for (std::size_t column = 0; column < lines_[0].size(); ++column) {
      if (column != same) refuse_other_count(column);
      if (!shared || column == same || !same_names_as_often(column)) continue;
      refuse(fmt::format("several rows of the model share a name, and {} holds these names in another order", place(column)),
             fmt::format("put the lines in the model's order, a line a row; {}", say_order));
    }
    if (shared && !same && names_.mostly_their_own())
      refuse(fmt::format("several rows of the model share a name, and no column holds the names row by row; they are called {}",
                         quoted_some(names_.all(), 2)),
             fmt::format("put the lines in the model's order, a line a row; {}", say_order));
    if (same) return same;
    note = shared ? "no column holds the names of the model's rows; lines are taken in order"
                  : "the rows of the model have no names, and lines are taken in order";
    return std::nullopt;
  }

  // Names of kinds of rows, in capitals or not: but for one in a hundred, each as often as in the model.
  bool same_names_as_often(std::size_t column) const {
    const auto small = [](std::string word) {
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return word;
    };
    std::unordered_map<std::string, std::ptrdiff_t> counts;
    for (const std::string& name : names_.all()) ++counts[small(name)];
    for (std::size_t line = named_[column].first; line < lines_.size(); ++line) --counts[small(lines_[line][column])];
    std::ptrdiff_t more = 0, fewer = 0;
    for (const auto& [word, count] : counts) (count > 0 ? more : fewer) += std::abs(count);
    const auto few = static_cast<std::ptrdiff_t>(std::max<std::size_t>(2, rows_ / 100));
    return std::max(more, fewer) <= few && 2 * more < static_cast<std::ptrdiff_t>(rows_);
  }

  // In ascending order it is of the lines as they stand, blank ones among them if these are rows. Where the rows' own places are known it must be
  // theirs, from 0 or 1, or one of the lines.
  bool of_the_rows(const Count& count) const {
    const std::vector<double>& values = count.values;
    if (!count.all || !count.ascending() || values.size() > rows_) return false;
    if (values.size() < lines_.size() && lines_.size() == rows_ && !looks_like_header(first_)) return false;
    std::vector<double> places = names_.are_places() ? names_.places() : std::vector<double>();
    const bool contiguous = values.back() - values.front() + 1 == static_cast<double>(values.size());
    const bool from_the_start = values[0] == 0 || values[0] == 1;
    if (values.size() < rows_ && !table_.blank.empty()) {
      const std::size_t first =
          lines_.size() - values.size();  // a row above it would be a guess, as would be the base of the count
      if (std::find(table_.blank.begin(), table_.blank.end(), first) != table_.blank.end()) return false;
      places.clear();
      for (std::size_t line = first, blank = 0; line < lines_.size(); ++line) {
        while (blank < table_.blank.size() && table_.blank[blank] <= line) ++blank;
        places.push_back(static_cast<double>(line + blank));
      }
    } else if (places.empty() || (contiguous && from_the_start)) {
      return true;
    } else if (std::abs(places[0] - values[0]) > 1) {
      return false;
    }
    return std::equal(places.begin(), places.end(), values.begin(), values.end(),
                      [shift = places[0] - values[0]](double a, double b) { return a == b + shift; });
  }

  // Of cells of all lines, of which the first may be a header.
  std::optional<Count> count_below(std::vector<std::string_view> cells) const {
    const auto with = count_in(cells, table_.decimal_commas);
    cells.erase(cells.begin());
    const auto without = count_in(cells, table_.decimal_commas);
    if (looks_like_header(first_)) return without;
    return with && (!without || with->values.size() > without->values.size() || looks_like_label(first_)) ? with : without;
  }

  void refuse_other_count(std::size_t column) const {
    std::vector<std::string_view> cells;
    for (const LabelLine& line : lines_) cells.emplace_back(line[column]);
    const auto count = count_below(std::move(cells));
    if (count && of_the_rows(*count)) return;
    const bool counts = count && (count->dense || (column == 0 && count->plain && count->all && count->whole()));
    const bool of_places = names_.only_count() && 2 * named_[column].rows >= rows_ && named_[column].doubled.empty();
    if (!counts && !of_places) return;
    const bool known = names_.only_count() && named_[column].covers();
    if (count && count->all && count->ascending() && count->values.size() > rows_)
      refuse(fmt::format("{} counts {} lines, and the model has {} rows", place(column), count->values.size(), rows_),
             "leave out the lines of rows that the model does not have; then one line a row, in the model's order");
    const char* what = count && count->all && count->ascending()
                           ? "{} counts, and not the lines as they stand, nor the model's rows"
                           : "{} counts the lines, in another order than they stand; an index or a rank?";
    refuse(fmt::format(fmt::runtime(what), place(column)),
           fmt::format("sort the lines by it, if it is an index of the model's rows; {}", known ? say_either : say_order));
  }

  // A line of one column that begins with the name or the number of a row has a second column behind it.
  void refuse_hidden_column() const {
    if (lines_.size() < 3) return;
    const auto refuse_line = [&](const std::string& what) {
      refuse(fmt::format("{}: \"{}\"", what, lines_.back()[0]),
             fmt::format("separate columns by commas, semicolons or tabs; {}", say_order));
    };
    refuse_hidden_names(refuse_line);
    for (const char separator : separators) {
      std::vector<std::string_view> cells;
      for (const LabelLine& line : lines_) {
        const std::size_t end = line[0].find(separator);
        cells.push_back(end == std::string::npos ? std::string_view() : trimmed(std::string_view(line[0]).substr(0, end)));
      }
      if (const auto count = count_below(std::move(cells)); count && count->dense && !of_the_rows(*count))
        refuse_line(
            fmt::format("the lines of the only column begin with numbers, up to \"{}\", that are not in order", separator));
    }
    if (blanks_separate())
      refuse_line("the lines of the only column look like several, with blanks between them, which do not separate");
  }

  // Nearly all lines have as many parts, of which the last is a number; nearly all differ, and they do not all begin with one word, as "cluster 12" does.
  bool blanks_separate() const {
    if (lines_.size() - 1 < few_enough_for_chance) return false;
    std::unordered_map<std::size_t, std::size_t> with_parts;
    std::unordered_set<std::string_view> begun, whole;
    for (std::size_t line = 1; line < lines_.size(); ++line) {
      std::vector<std::string_view> parts;
      Cells cells(lines_[line][0], blanks);
      for (std::string_view part; cells.next(part);) parts.push_back(part);
      whole.insert(lines_[line][0]);
      if (parts.size() < 2 || !exact_number(parts.back(), true)) continue;
      begun.insert(parts.front());
      ++with_parts[parts.size()];
    }
    const std::size_t nearly = (9 * (lines_.size() - 1) + 9) / 10;
    const bool alike = std::any_of(with_parts.begin(), with_parts.end(), [&](const auto& some) { return some.second >= nearly; });
    return alike && begun.size() > 1 && whole.size() >= nearly;
  }

  template <class RefuseLine>
  void refuse_hidden_names(const RefuseLine& refuse_line) const {
    if (names_.all().empty() || names_.only_count()) return;
    const std::size_t held = lines_.size() - 1;
    std::unordered_set<std::size_t> begun, whole;
    std::size_t begin = 0;  // lines that do
    for (std::size_t line = 1; line < lines_.size(); ++line) {
      const std::string& cell = lines_[line][0];
      if (const auto row = names_.row(cell)) whole.insert(*row);
      bool begins = false;
      for (std::size_t at = cell.find_first_of(separators); at != std::string::npos; at = cell.find_first_of(separators, at + 1))
        if (const auto row = names_.row(std::string(trimmed(std::string_view(cell).substr(0, at)))))
          begins = true, begun.insert(*row);
      begin += begins ? 1 : 0;
    }
    const bool many = 10 * begun.size() >= std::min(held, rows_);
    if (begun.size() > 1 && (names_.mostly_their_own() ? many : 10 * begin >= 9 * held))
      refuse_line("the lines of the only column begin with names of the model's rows");
    if (names_.mostly_their_own() && !named_[0].row_by_row && (names_.numbers() ? named_[0].covers() : 2 * whole.size() >= held))
      refuse_line("the only column holds names of the model's rows, in another order");
  }

  const LabelLines& table_;
  const std::vector<LabelLine>& lines_;
  FirstLine first_;
  RowNames names_;
  std::size_t rows_;
  const std::string& path_;
  std::vector<Named> named_;  // by column, where the rows have names
};

}  // namespace

std::string quoted_some(const std::vector<std::string>& words, std::size_t most) {
  const std::size_t shown = std::min(most, words.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", words[i]);
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

bool lay_out_by_names(const LabelLines& table, FirstLine first, const LabelledRows& rows, const std::string& path,
                      LabelLayout& layout) {
  const Asking asking(table, first, rows, path);
  std::string note;
  const auto naming = rows.placing == Placing::by_name ? asking.by_name() : asking.if_certain(note);
  if (!note.empty()) layout.remarks.push_back(note);
  if (!naming) return false;
  const Named& named = asking.named(*naming);
  layout.names = *naming;
  layout.header = named.first == 1;
  layout.lines = named.lines;
  if (named.row_by_row)
    for (std::size_t row = 0; row < layout.lines.size(); ++row) layout.lines[row] = row + named.first;
  layout.remarks.push_back(
      asking.names().each_its_own()
          ? fmt::format("lines are placed by the row names in {}", asking.place(*naming))
          : fmt::format("several rows share a name; lines are taken in order, which is that of the names in {}",
                        asking.place(*naming)));
  if (!named.strange.empty())
    layout.remarks.push_back(fmt::format(
        "{} left out, of names that no row of the model has: {}",
        named.strange.size() == 1 ? "1 line is" : fmt::format("{} lines are", named.strange.size()), quoted_some(named.strange)));
  return true;
}

}  // namespace fd
