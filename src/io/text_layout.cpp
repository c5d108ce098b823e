#include "io/text_layout.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

enum class CellKind { number, missing, word };

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

// "age", "x1", "T_max": not "2x" or "O.5", which are slips of a number.
bool word_like(std::string_view cell) {
  const auto letters = std::count_if(cell.begin(), cell.end(), is_letter);
  const auto digits = std::count_if(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
  return !cell.empty() && is_letter(cell[0]) && letters >= digits;
}

// "O.5", "0.5.1", "-2x": a number with a mistake, where one is expected.
bool slip(std::string_view cell) { return meant_as_number(cell) || cell.find_first_of("0123456789+-.") == 0; }

// What a column of names is called: "Gene", "sample_id", "Cell name", nothing; "Unnamed: 0" is pandas' word for nothing.
bool names_a_column_of_names(std::string_view cell) {
  std::string word;
  for (const char c : cell) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower >= 'a' && lower <= 'z') word += lower;
    else if (c != ' ' && c != '_' && c != '-' && c != '.') return cell == "Unnamed: 0";
  }
  static constexpr std::string_view known[] = {
      "",        "barcode", "case",  "cell",   "city",    "compound", "country", "date",        "feature", "file",
      "gene",    "id",      "image", "index",  "item",    "label",    "name",    "observation", "patient", "probe",
      "protein", "region",  "row",   "sample", "species", "state",    "subject", "symbol",      "time",
  };
  const auto is_known = [](std::string_view candidate) {
    return std::find(std::begin(known), std::end(known), candidate) != std::end(known);
  };
  if (is_known(word)) return true;
  for (const std::string_view ending : {"s", "id", "ids", "name", "names"})
    if (word.size() > ending.size() && word.substr(word.size() - ending.size()) == ending &&
        is_known(word.substr(0, word.size() - ending.size())))
      return true;
  return false;
}

class Judge {
 public:
  Judge(const std::vector<TextRow>& sample, bool decimal_commas, const ReadOptions& options, const std::string& file)
      : commas_(decimal_commas), options_(options), file_(file), first_(sample[0].cells), line_(sample[0].line) {
    const std::size_t width = first_.size();
    const auto has = [&](std::size_t cells) {
      return sample.size() > 1 &&
             std::all_of(sample.begin() + 1, sample.end(), [&](const TextRow& row) { return row.cells.size() == cells; });
    };
    // R names the columns and not the column of row names.
    const auto names_a_row = [&](const TextRow& row) { return kind(row.cells[0]) == CellKind::word; };
    if (options.header.value_or(true) && has(width + 1) &&
        (numbers_in(first_, 0).empty() || ((counts_up(first_, 0) || numbered(first_, numbers_in(first_, 0))) &&
                                           std::all_of(sample.begin() + 1, sample.end(), names_a_row))))
      first_.insert(first_.begin(), "");
    empty_end_ = width > 1 && std::all_of(sample.begin(), sample.end(), [&](const TextRow& row) {
                   return row.cells.size() == width && row.cells.back().empty();
                 });
    if (empty_end_) first_.pop_back();
    const std::size_t cells = first_.size() + (empty_end_ ? 1 : 0);
    for (std::size_t i = 1; i < sample.size(); ++i)
      if (sample[i].cells.size() == cells) below_.push_back(&sample[i].cells);  // others are refused where they are read
  }

  TextLayout decide() const {
    TextLayout layout;
    layout.width = first_.size();
    layout.empty_end = empty_end_;
    const bool fixed = options_.names != "auto" && options_.names != "none";
    const std::size_t aside = fixed ? column_of(options_.names) : 0;  // the column that may name the rows
    const bool words = options_.names == "auto" && column_of_words();
    const bool by_header = fixed && !digits_only(options_.names);
    layout.header = options_.header.value_or(by_header || is_header(aside, words || fixed));
    if (layout.header) layout.columns = first_;
    if (fixed || words || (options_.names == "auto" && layout.header && numbers_rows())) layout.names = aside;
    layout.called_names =
        options_.names == "auto" && layout.header && !layout.names && layout.width > 1 && names_a_column_of_names(first_[0]);
    std::vector<std::size_t> numbers = numbers_in(first_, 0);
    if (layout.names) std::erase(numbers, *layout.names);
    const bool all = numbers.size() + (layout.names ? 1 : 0) == layout.width;
    layout.doubtful =
        !options_.header && !layout.header && !below_.empty() && all && ((words && counts_up(first_, 1)) || alone(numbers));
    return layout;
  }

 private:
  CellKind kind(std::string_view cell) const {
    if (NumberReader read(commas_); read(cell)) return CellKind::number;
    return missing_word(cell) ? CellKind::missing : CellKind::word;
  }

  // Words and no number in the first column, and numbers beside them. "NA" may be a word among others.
  bool column_of_words() const {
    if (first_.size() < 2) return false;
    const auto numbers_beside = [&](const std::vector<std::string>& cells) {
      return std::any_of(cells.begin() + 1, cells.end(), [&](const std::string& cell) { return kind(cell) == CellKind::number; });
    };
    if (below_.empty()) {
      const bool others_words =
          std::any_of(first_.begin() + 1, first_.end(), [&](const std::string& cell) { return kind(cell) == CellKind::word; });
      return kind(first_[0]) == CellKind::word && !others_words && numbers_beside(first_);
    }
    if (kind(first_[0]) == CellKind::number && !options_.header.value_or(false)) return false;
    const auto any = [&](const auto& holds) {
      return std::any_of(below_.begin(), below_.end(), [&](const auto* cells) { return holds(*cells); });
    };
    return any([&](const auto& cells) { return kind(cells[0]) == CellKind::word; }) &&
           !any([&](const auto& cells) { return kind(cells[0]) == CellKind::number; }) && any(numbers_beside);
  }

  // The header of the first column says that its numbers only number the rows.
  bool numbers_rows() const {
    if (first_.size() < 2 || below_.empty()) return false;
    std::string word = first_[0];
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word.empty() || word == "unnamed: 0" || word == "name") return true;
    return (word == "index" || word == "id") &&
           std::none_of(below_.begin(), below_.end(), [&](const auto* cells) { return is_fraction((*cells)[0]); });
  }

  // The names that the columns are known to have, in whatever order, above rows that are no such line.
  bool names_known_columns(std::size_t aside) const {
    std::vector<std::string> known = options_.columns;
    if (known.size() < 2) return false;
    std::sort(known.begin(), known.end());
    const auto has_these = [&](std::vector<std::string> cells) {
      if (cells.size() == known.size() + 1) cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(aside));
      const auto is_known = [&](const std::string& cell) { return std::binary_search(known.begin(), known.end(), cell); };
      if (cells.size() != known.size() || !std::all_of(cells.begin(), cells.end(), is_known)) return false;
      std::sort(cells.begin(), cells.end());
      return cells == known;
    };
    return has_these(first_) && std::none_of(below_.begin(), below_.end(), [&](const auto* cells) { return has_these(*cells); });
  }

  // As pandas and R write a frame: nothing above an index of different whole numbers, and beside it numbers that rise or fall (years, wavelengths).
  bool nothing_above_an_index() const {
    if (first_.size() < 3 || !first_[0].empty() || below_.size() < 2) return false;
    std::set<std::string_view> index;
    for (const auto* cells : below_)
      if (!digits_only((*cells)[0]) || !index.insert((*cells)[0]).second) return false;
    NumberReader read(commas_);
    std::vector<double> labels;
    for (std::size_t c = 1; c < first_.size(); ++c)
      labels.push_back(read(first_[c]).value_or(std::numeric_limits<double>::quiet_NaN()));
    const auto ordered = [&](auto&& before) {
      for (std::size_t c = 1; c < labels.size(); ++c)
        if (!before(labels[c - 1], labels[c])) return false;
      return true;
    };
    return ordered(std::less<>()) || ordered(std::greater<>());
  }

  bool is_header(std::size_t aside, bool names) const {
    if (names_known_columns(aside) || nothing_above_an_index()) return true;
    const bool set_aside = names || kind(first_[aside]) != CellKind::number;
    const bool word_aside = kind(first_[aside]) == CellKind::word;
    std::vector<std::size_t> numbers;
    bool words = false, slips = false;
    for (std::size_t c = 0; c < first_.size(); ++c) {
      const CellKind found = kind(first_[c]);
      words |= found == CellKind::word && !meant_as_number(first_[c]) && !(c == aside && names);
      if (c == aside && set_aside) {
        slips |= !names && found == CellKind::word && slip(first_[c]);  // over numbers
        continue;
      }
      if (found == CellKind::number) numbers.push_back(c);
      slips |= found == CellKind::word && !word_like(first_[c]);
    }
    if (numbers.empty()) return words;
    if (slips) return false;
    return are_labels(numbers, words || word_aside, names && names_names(aside));
  }

  // The first cell of the column that names the rows says what these names are, and is none of them.
  bool names_names(std::size_t column) const {
    return names_a_column_of_names(first_[column]) && std::none_of(below_.begin(), below_.end(), [&](const auto* cells) {
             return names_a_column_of_names((*cells)[column]);
           });
  }

  bool are_labels(const std::vector<std::size_t>& columns, bool beside_words, bool beside_name_of_names) const {
    if (below_.empty()) return false;
    return beside_name_of_names || count_columns(columns, beside_words) || numbers_columns(columns) ||
           (beside_words && (are_years(columns) || is_scale(columns)));
  }

  // Whole numbers that follow each other from 0 or 1, or from a year beside words; no row below is the same, and a row of data is
  // not easily taken for labels: some values below are more than digits, or there are four labels or more.
  bool count_columns(const std::vector<std::size_t>& columns, bool beside_words) const {
    if (!consecutive(first_, columns)) return false;
    const std::string& start = first_[columns[0]];
    const bool counted = (start == "0" || start == "1") && columns.size() >= 2;
    const bool years = beside_words && start.size() == 4;
    if (!counted && !years) return false;
    bool fractions = false;
    for (const auto* cells : below_) {
      if (columns.size() >= 2 && (*cells)[columns[0]] == start && consecutive(*cells, columns)) return false;
      for (const std::size_t c : columns) fractions |= is_fraction((*cells)[c]);
    }
    return fractions || columns.size() >= 4;
  }

  // 0, 1, 2, … in whatever order, three or more, each once.
  static bool numbered(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns) {
    std::vector<bool> seen(columns.size());
    for (const std::size_t c : columns) {
      std::size_t value = 0;
      if (!digits_only(cells[c]) || cells[c].size() > 9) return false;
      std::from_chars(cells[c].data(), cells[c].data() + cells[c].size(), value);
      if (value >= seen.size() || seen[value]) return false;
      seen[value] = true;
    }
    return columns.size() >= 3;
  }

  // So is the first line, and no row below.
  bool alone(const std::vector<std::size_t>& columns) const {
    return numbered(first_, columns) &&
           std::none_of(below_.begin(), below_.end(), [&](const auto* cells) { return numbered(*cells, columns); });
  }

  // Small whole numbers are often data: every row below has to be of another kind.
  bool numbers_columns(const std::vector<std::size_t>& columns) const {
    return alone(columns) && std::all_of(below_.begin(), below_.end(), [&](const auto* cells) {
             return std::any_of(columns.begin(), columns.end(), [&](std::size_t c) { return is_fraction((*cells)[c]); });
           });
  }

  // Two years or more that increase, over rows none of which has years throughout.
  bool are_years(const std::vector<std::size_t>& columns) const {
    const auto has_years = [&](const std::vector<std::string>& cells) {
      return std::all_of(columns.begin(), columns.end(), [&](std::size_t c) {
        return cells[c].size() == 4 && digits_only(cells[c]) && cells[c] >= "1800" && cells[c] <= "2100";
      });
    };
    return columns.size() >= 2 && has_years(first_) && direction(first_, columns) > 0 &&
           std::none_of(below_.begin(), below_.end(), [&](const auto* cells) { return has_years(*cells); });
  }

  // Times, wavelengths, doses: numbers that rise or fall throughout, over rows of which none does so in the same direction. Of six numbers in
  // random order one in 720 rises; of four, one in 24, so four have to be whole numbers over fractions.
  bool is_scale(const std::vector<std::size_t>& columns) const {
    const int way = direction(first_, columns);
    if (columns.size() < 4 || way == 0) return false;
    bool fractions = false;
    for (const auto* cells : below_) {
      if (direction(*cells, columns) == way) return false;
      for (const std::size_t c : columns) fractions |= is_fraction((*cells)[c]);
    }
    const bool whole = std::all_of(columns.begin(), columns.end(), [&](std::size_t c) { return digits_only(first_[c]); });
    return columns.size() >= 6 || (whole && fractions);
  }

  // 1: each number is larger than the one before it; -1: smaller; 0: neither.
  int direction(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns) const {
    bool rises = true, falls = true;
    double before = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      NumberReader read(commas_);
      const std::optional<double> value = read(cells[columns[i]]);
      if (!value) return 0;
      rises &= i == 0 || *value > before;
      falls &= i == 0 || *value < before;
      before = *value;
    }
    return columns.size() < 2 ? 0 : rises ? 1 : falls ? -1 : 0;
  }

  std::vector<std::size_t> numbers_in(const std::vector<std::string>& cells, std::size_t first) const {
    std::vector<std::size_t> columns;
    for (std::size_t c = first; c < cells.size(); ++c)
      if (kind(cells[c]) == CellKind::number) columns.push_back(c);
    return columns;
  }

  // Whole numbers in all columns from `first`, each larger than the one before it.
  bool counts_up(const std::vector<std::string>& cells, std::size_t first) const {
    const std::vector<std::size_t> columns = numbers_in(cells, first);
    return columns.size() == cells.size() - first && direction(cells, columns) > 0 &&
           std::all_of(columns.begin(), columns.end(), [&](std::size_t c) { return digits_only(cells[c]); });
  }

  // A number that is more than digits; NaN and infinity have none.
  bool is_fraction(std::string_view cell) const {
    return kind(cell) == CellKind::number && !digits_only(cell) && cell.find_first_of("0123456789") != std::string_view::npos;
  }

  static bool consecutive(const std::vector<std::string>& cells, const std::vector<std::size_t>& columns) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = cells[columns[i]];
      std::uint64_t value = 0;
      if (!digits_only(cell) || cell.size() > 9) return false;
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (i > 0 && value != expected) return false;
      expected = value + 1;
    }
    return true;
  }

  // By its number from 1, else by its header.
  std::size_t column_of(const std::string& name) const {
    std::size_t number = 0;
    if (digits_only(name) && name.size() < 10) std::from_chars(name.data(), name.data() + name.size(), number);
    if (const auto found = std::find(first_.begin(), first_.end(), name); number == 0 && found != first_.end())
      number = static_cast<std::size_t>(found - first_.begin()) + 1;
    if (number < 1 || number > first_.size())
      throw Error(Failure::misuse,
                  fmt::format("{}: no column '{}' to take row names from (line {} has {})", file_, name, line_,
                              counted(first_.size(), "column")),
                  "give a column's header or its number, counted from 1; or none");
    if (first_.size() == 1)
      throw Error(Failure::misuse, fmt::format("{}: its only column cannot name the rows", file_),
                  "points need a column of numbers");
    return number - 1;
  }

  bool commas_;
  const ReadOptions& options_;
  const std::string& file_;
  std::vector<std::string> first_;
  std::size_t line_;
  bool empty_end_ = false;
  std::vector<const std::vector<std::string>*> below_;
};

}  // namespace

TextLayout recognise_layout(const std::vector<TextRow>& sample, bool decimal_commas, const ReadOptions& options,
                            const std::string& file) {
  return Judge(sample, decimal_commas, options, file).decide();
}

}  // namespace fd
