#include "io/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/bytes.hpp"
#include "io/text_line.hpp"

namespace fd {
namespace {

std::optional<double> number(std::string_view cell) {
  if (!cell.empty() && cell[0] == '+') cell.remove_prefix(1);
  if (cell.empty() || (cell[0] == '+')) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc::result_out_of_range)
    return std::strtod(std::string(cell).c_str(), nullptr);  // 0 or infinity, by its size
  return value;
}

bool missing(std::string_view cell) {
  for (const std::string_view word : {"", "NA", "N/A", "na", "n/a", "null", "NULL", "None", "?", "-", "."})
    if (cell == word) return true;
  return false;
}

std::string shortened(std::string_view cell) {
  return cell.size() <= 40 ? std::string(cell) : std::string(cell.substr(0, 37)) + "...";
}

// A run of whole rows; blocks instead of one vector, so that growing never holds the table twice.
using Block = std::vector<double>;

class TextSource final : public PointSource {
 public:
  TextSource(std::size_t rows, std::size_t dimension, std::size_t block_rows, std::vector<Block> blocks)
      : rows_(rows), dimension_(dimension), block_rows_(block_rows), blocks_(std::move(blocks)) {}
  std::size_t rows() const override { return rows_; }
  std::size_t dimension() const override { return dimension_; }
  void read(std::size_t first, std::size_t count, double* out) override {
    while (count > 0) {
      const std::size_t inside = first % block_rows_, now = std::min(count, block_rows_ - inside);
      const Block& block = blocks_[first / block_rows_];
      std::copy_n(block.data() + inside * dimension_, now * dimension_, out);
      out += now * dimension_;
      first += now;
      count -= now;
    }
  }

 private:
  std::size_t rows_, dimension_, block_rows_;
  std::vector<Block> blocks_;
};

class TextParser {
 public:
  TextParser(int descriptor, std::string name) : name_(std::move(name)), lines_(descriptor, name_) {}

  std::unique_ptr<PointSource> parse() {
    std::string_view line;
    while (lines_.next(line)) {
      if (lines_.number() == 1) line = check_start(line);
      line = without_comment(line);
      if (trimmed(line).empty()) continue;
      if (separator_ == '\0') first_row(line);
      else row(line);
    }
    if (lines_.empty()) throw Error(Failure::input, name_ + " is empty (0 bytes)", "write it again: one point a line");
    if (rows_ == 0 && !text_cell_.empty() && !all_text_) refuse_first_row();
    if (rows_ == 0)
      throw Error(Failure::input, name_ + (names_.empty() ? " holds no numbers" : " holds a header row and no numbers"),
                  "write one point a line");
    return std::make_unique<TextSource>(rows_, width_, block_rows_, std::move(blocks_));
  }

 private:
  std::string_view check_start(std::string_view line) const {
    const auto starts = [&](std::string_view mark) { return line.substr(0, mark.size()) == mark; };
    if (starts("\x1f\x8b"))
      throw Error(Failure::input, name_ + " is compressed (gzip)", "unpack it first: gunzip -c FILE | flashdiffusion fit - ...");
    if (starts("\xff\xfe") || starts("\xfe\xff"))
      throw Error(Failure::input, name_ + " is UTF-16 text", "save it as UTF-8 or plain ASCII");
    if (starts("\xef\xbb\xbf")) line.remove_prefix(3);
    return line;
  }

  // Decides what separates and whether this row names the columns: a header has no numbers at all, or numbers beside words
  // where the next row has numbers only.
  void first_row(std::string_view line) {
    refuse_binary(line);
    separator_ = find_separator(line);
    std::vector<std::string> cells;
    std::string_view cell;
    bool any_number = false;
    for (Cells all(line, separator_); all.next(cell);) {
      cells.emplace_back(cell);
      const bool is_number = number(cell).has_value();
      any_number |= is_number;
      if (is_number || missing(cell) || !text_cell_.empty()) continue;
      text_cell_ = cells.back();
      text_column_ = cells.size();
    }
    width_ = cells.size();
    block_rows_ = std::max<std::size_t>(1, (std::size_t{1} << 17) / width_);
    first_line_ = lines_.number();
    if (text_cell_.empty()) return row(line);
    if (cells[0].empty() && width_ > 1)
      throw Error(
          Failure::input,
          fmt::format("{}, line {}, column 1: the first column has no name, so it seems to number the rows", name_, first_line_),
          "leave it out: to_csv(path, index=False) in pandas, row.names = FALSE in R");
    all_text_ = !any_number;
    names_ = std::move(cells);
  }

  void row(std::string_view line) {
    if (rows_ % block_rows_ == 0) {
      blocks_.emplace_back();
      blocks_.back().reserve(block_rows_ * width_);
    }
    Block& block = blocks_.back();
    std::size_t column = 0;
    std::string_view cell;
    for (Cells all(line, separator_); all.next(cell); ++column) {
      if (column >= width_) continue;  // counted for the message
      const std::optional<double> value = number(cell);
      if (!value) refuse(line, cell, column);
      block.push_back(*value);
    }
    if (column != width_) refuse_width(column);
    ++rows_;
  }

  [[noreturn]] void refuse(std::string_view line, std::string_view cell, std::size_t column) const {
    refuse_binary(line);
    if (rows_ == 0 && !names_.empty() && !all_text_) refuse_first_row();
    std::string where = fmt::format("{}, line {}, column {}", name_, lines_.number(), column + 1);
    if (!names_.empty()) where += fmt::format(" (\"{}\")", shortened(names_[column]));
    if (missing(cell))
      throw Error(Failure::input,
                  where + (cell.empty() ? ": the cell is empty" : fmt::format(": the cell is missing ('{}')", cell)),
                  "fill the gap or leave the row or the column out");
    const bool comma = cell.find(',') != std::string_view::npos;
    throw Error(Failure::input, fmt::format("{}: '{}' is not a number", where, shortened(cell)),
                comma ? "write decimal points, not commas" : "leave columns of text out, or turn them into numbers");
  }

  [[noreturn]] void refuse_first_row() const {
    throw Error(
        Failure::input,
        fmt::format("{}, line {}, column {}: '{}' is not a number", name_, first_line_, text_column_, shortened(text_cell_)),
        "leave columns of text out, or turn them into numbers");
  }

  [[noreturn]] void refuse_width(std::size_t cells) const {
    throw Error(Failure::input,
                fmt::format("{}, line {}: {} cell{}, but line {} has {}{}", name_, lines_.number(), cells, cells == 1 ? "" : "s",
                            first_line_, width_,
                            cells < width_ ? fmt::format("; column {} is missing", cells + 1)
                                           : fmt::format("; column {} is too many", width_ + 1)),
                "every line needs the same number of cells, separated in the same way");
  }

  void refuse_binary(std::string_view line) const {
    if (std::memchr(line.data(), '\0', line.size()) != nullptr)
      throw Error(Failure::input, fmt::format("{}, line {}: not text (a zero byte)", name_, lines_.number()),
                  "correct its suffix, or write it as text");
  }

  std::string name_;
  LineReader lines_;
  char separator_ = '\0';
  std::size_t width_ = 0, block_rows_ = 1, rows_ = 0, first_line_ = 0;
  std::vector<std::string> names_;  // of the columns, where the first row is a header
  std::string text_cell_;           // first cell of the first row that is not a number
  std::size_t text_column_ = 0;
  bool all_text_ = false;  // no number at all in the first row
  std::vector<Block> blocks_;
};

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

std::unique_ptr<PointSource> open_text(const std::string& path) {
  if (path == "-") return TextParser(STDIN_FILENO, "standard input").parse();
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) throw system_error("read", path, errno);
  return TextParser(file.value, path).parse();
}

}  // namespace fd
