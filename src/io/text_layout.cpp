#include "io/text_layout.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "io/text_number.hpp"

namespace fd {
namespace {

enum class Kind { number, missing, word };

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

// "age", "x1", "T_max": not "2x" or "O.5", which are slips of a number.
bool word_like(std::string_view cell) {
  const auto letters = std::count_if(cell.begin(), cell.end(), is_letter);
  const auto digits = std::count_if(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
  return !cell.empty() && is_letter(cell[0]) && letters >= digits;
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
    if (options.header.value_or(true) && has(width + 1) &&
        std::none_of(first_.begin(), first_.end(), [&](const std::string& cell) { return kind(cell) == Kind::number; }))
      first_.insert(first_.begin(), "");
    for (std::size_t i = 1; i < sample.size(); ++i)
      if (sample[i].cells.size() == first_.size()) below_.push_back(&sample[i].cells);  // others are refused where they are read
  }

  TextLayout decide() const {
    TextLayout layout;
    layout.width = first_.size();
    const bool fixed = options_.names != "auto" && options_.names != "none";
    const std::size_t aside = fixed ? column_of(options_.names) : 0;  // the column that may name the rows
    const bool words = options_.names == "auto" && column_of_words();
    const bool by_header = fixed && !digits_only(options_.names);
    layout.header = options_.header.value_or(by_header || is_header(aside, words || fixed));
    if (layout.header) layout.columns = first_;
    if (fixed || words || (options_.names == "auto" && layout.header && numbers_rows())) layout.names = aside;
    return layout;
  }

 private:
  Kind kind(std::string_view cell) const {
    if (NumberReader read(commas_); read(cell)) return Kind::number;
    return missing_word(cell) ? Kind::missing : Kind::word;
  }

  // Words and no number in the first column, and numbers beside them. "NA" may be a word among others.
  bool column_of_words() const {
    if (first_.size() < 2) return false;
    const auto numbers_beside = [&](const std::vector<std::string>& cells) {
      return std::any_of(cells.begin() + 1, cells.end(), [&](const std::string& cell) { return kind(cell) == Kind::number; });
    };
    if (below_.empty()) {
      const bool others_words =
          std::any_of(first_.begin() + 1, first_.end(), [&](const std::string& cell) { return kind(cell) == Kind::word; });
      return kind(first_[0]) == Kind::word && !others_words && numbers_beside(first_);
    }
    if (kind(first_[0]) == Kind::number && !options_.header.value_or(false)) return false;
    const auto any = [&](const auto& holds) {
      return std::any_of(below_.begin(), below_.end(), [&](const auto* cells) { return holds(*cells); });
    };
    return any([&](const auto& cells) { return kind(cells[0]) == Kind::word; }) &&
           !any([&](const auto& cells) { return kind(cells[0]) == Kind::number; }) && any(numbers_beside);
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

  bool is_header(std::size_t aside, bool names) const {
    std::vector<std::size_t> numbers;
    bool words = false, slips = false;
    const bool set_aside = names || kind(first_[aside]) != Kind::number;
    for (std::size_t c = 0; c < first_.size(); ++c) {
      if (c == aside && set_aside) continue;
      const Kind found = kind(first_[c]);
      if (found == Kind::number) numbers.push_back(c);
      if (found != Kind::word) continue;
      words = true;
      slips |= !word_like(first_[c]);
    }
    if (numbers.empty()) return words || (!names && kind(first_[aside]) == Kind::word);
    if (slips) return false;
    return are_labels(numbers, words || (set_aside && kind(first_[aside]) == Kind::word));
  }

  // Whole numbers that follow each other from 0 or 1, or years beside words; no row below is the same, and a row of data is
  // not easily taken for labels: some values below are more than digits, or there are four labels or more.
  bool are_labels(const std::vector<std::size_t>& columns, bool beside_words) const {
    if (below_.empty() || !consecutive(first_, columns)) return false;
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

  // A number that is more than digits; NaN and infinity have none.
  bool is_fraction(std::string_view cell) const {
    return kind(cell) == Kind::number && !digits_only(cell) && cell.find_first_of("0123456789") != std::string_view::npos;
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
      throw Error(
          Failure::misuse,
          fmt::format("{}: no column '{}' to take row names from (line {} has {} columns)", file_, name, line_, first_.size()),
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
  std::vector<const std::vector<std::string>*> below_;
};

}  // namespace

TextLayout recognise_layout(const std::vector<TextRow>& sample, bool decimal_commas, const ReadOptions& options,
                            const std::string& file) {
  return Judge(sample, decimal_commas, options, file).decide();
}

}  // namespace fd
