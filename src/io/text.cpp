#include "io/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "io/sequential_file.hpp"
#include "io/text_doubt.hpp"
#include "io/text_layout.hpp"
#include "io/text_line.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t longest_name = 1000;  // bytes

std::string shortened(std::string_view cell) {
  return printable(cell.size() <= 40 ? std::string(cell) : std::string(cell.substr(0, 37)) + "...");
}

// A run of whole rows; blocks instead of one vector, so that growing never holds the table twice.
using Block = std::vector<double>;

struct TextTable {
  std::size_t rows = 0, dimension = 0, block_rows = 1;
  std::vector<Block> blocks;
  std::vector<std::string> names, columns, notes;
};

class TextSource final : public PointSource {
 public:
  explicit TextSource(TextTable table) : table_(std::move(table)) {}
  std::size_t rows() const override { return table_.rows; }
  std::size_t dimension() const override { return table_.dimension; }
  std::vector<std::string> row_names() const override { return table_.names; }
  std::vector<std::string> column_names() const override { return table_.columns; }
  std::vector<std::string> notes() const override { return table_.notes; }
  void read(std::size_t first, std::size_t count, double* out) override {
    while (count > 0) {
      const std::size_t inside = first % table_.block_rows, now = std::min(count, table_.block_rows - inside);
      const Block& block = table_.blocks[first / table_.block_rows];
      std::copy_n(block.data() + inside * table_.dimension, now * table_.dimension, out);
      out += now * table_.dimension;
      first += now;
      count -= now;
    }
  }

 private:
  TextTable table_;
};

class TextParser {
 public:
  TextParser(int descriptor, std::string name, const ReadOptions& options)
      : name_(std::move(name)), options_(options), lines_(descriptor, name_) {}

  TextTable parse() {
    sample();
    if (sample_.empty())
      throw Error(Failure::input, name_ + (lines_.empty() ? " is empty (0 bytes)" : " holds no numbers"),
                  "write one point a line");
    first_line_ = sample_[0].line;
    layout_ = recognise_layout(sample_, separator_ != ',', options_, name_);
    if (separator_ == ',' && blanks_instead_.possible()) refuse_commas();
    adopt_comment();
    halves_ = separator_ == ',' && layout_.width == 2 && layout_.columns.empty() && !layout_.names;
    name_columns();
    table_.dimension = layout_.width - (layout_.names ? 1 : 0);
    table_.block_rows = std::max<std::size_t>(1, (std::size_t{1} << 17) / table_.dimension);
    for (std::size_t i = layout_.header ? 1 : 0; i < sample_.size(); ++i) {
      begin_row(sample_[i].line);
      for (const std::string& cell : sample_[i].cells) add(cell);
      end_row();
    }
    sample_.clear();
    for (std::string_view line; next_line(line);) {
      begin_row(lines_.number());
      std::string_view cell;
      for (Cells all(line, separator_); all.next(cell);) add(cell);
      end_row();
    }
    if (table_.rows == 0) throw Error(Failure::input, name_ + " holds a header row and no numbers", "write one point a line");
    if (missing_rows_ > 0 && options_.missing == Missing::refuse) refuse_missing();
    describe();
    return std::move(table_);
  }

 private:
  struct Place {
    std::size_t row, line, column;
    std::string cell;
  };
  struct Comments {
    std::size_t count = 0, line = 0;  // the first one's
  };

  // The next line that holds something.
  bool next_line(std::string_view& line) {
    while (lines_.next(line)) {
      if (lines_.number() == 1) line = check_start(line);
      if (std::memchr(line.data(), '\0', line.size()) != nullptr) {
        const auto zero = [&](std::size_t at) { return at < line.size() && line[at] == '\0'; };
        if (lines_.number() == 1 && zero(0) != zero(1) && ((zero(0) && zero(2)) || (zero(1) && zero(3)))) refuse_utf16();
        throw Error(Failure::input, fmt::format("{}, line {}: not text (a zero byte)", name_, lines_.number()),
                    "correct its suffix, or write it as text");
      }
      if (std::memchr(line.data(), '\r', line.size()) != nullptr)
        throw Error(Failure::input, fmt::format("{}, line {}: a carriage return inside the line", name_, lines_.number()),
                    "end lines with a line feed, as Unix and Windows do (tr '\\r' '\\n' turns old Mac text into such)");
      const std::string_view bare = without_comment(line, separator_);
      if (!trimmed(bare).empty()) {
        line = bare;
        ++filled_;
        return true;
      }
      if (!trimmed(line).empty()) see_comment(trimmed(line));
    }
    return false;
  }

  // A line that begins with #: the last one above the numbers may be their header, those below the first row may have been meant as rows.
  void see_comment(std::string_view line) {
    if (filled_ == 0) {
      comment_ = line;
      comment_line_ = lines_.number();
    } else {
      Comments& below = filled_ == 1 ? below_first_ : below_others_;
      if (below.count++ == 0) below.line = lines_.number();
    }
  }

  // np.savetxt writes a header as a comment: a word for every column.
  void adopt_comment() {
    if (layout_.header || options_.header || comment_.empty()) return;
    std::vector<std::string> names;
    std::string_view text = comment_, cell;
    text.remove_prefix(std::min(text.find_first_not_of('#'), text.size()));
    for (Cells all(text, separator_); all.next(cell);) {
      if (cell.empty() || NumberReader(separator_ != ',')(cell)) return;
      names.emplace_back(cell);
    }
    if (layout_.names && names.size() + 1 == layout_.width)
      names.insert(names.begin() + static_cast<std::ptrdiff_t>(*layout_.names), std::string());
    if (names.size() == layout_.width) layout_.columns = std::move(names);
  }

  std::string_view check_start(std::string_view line) const {
    const auto starts = [&](std::string_view mark) { return line.substr(0, mark.size()) == mark; };
    if (starts("\xff\xfe") || starts("\xfe\xff")) refuse_utf16();
    if (starts("\x93NUMPY") || starts("\x89HDF") || starts("PK\x03\x04"))
      throw Error(Failure::input, name_ + " holds a binary array, not text",
                  lines_.packed() ? "unpack it first (gunzip)" : "correct its suffix; only text can come from a pipe");
    if (starts("\xef\xbb\xbf")) line.remove_prefix(3);
    static constexpr std::pair<std::string_view, const char*> foreign[] = {{"<", "HTML or XML"},
                                                                           {"{", "JSON"},
                                                                           {"[", "JSON"},
                                                                           {"%PDF", "a PDF document"},
                                                                           {"\xd0\xcf\x11\xe0", "an old Excel or Word file"}};
    for (const auto& [mark, what] : foreign)
      if (starts(mark) && !starts("<NA>"))
        throw Error(Failure::input, fmt::format("{} holds {}, not a table of numbers", name_, what), "export the table as CSV");
    return line;
  }

  [[noreturn]] void refuse_utf16() const {
    throw Error(Failure::input, name_ + " is UTF-16 text", "save it as UTF-8 or plain ASCII");
  }

  // The first lines, as many as it takes to recognise the layout.
  void sample() {
    std::size_t bytes = 0;
    std::string_view line, cell;
    while (sample_.size() < 32 && bytes < std::size_t{4} << 20 && next_line(line)) {
      if (sample_.empty()) {
        separator_ = find_separator(line);
        line = without_comment(line, separator_);
        number_ = NumberReader(separator_ != ',');
      }
      blanks_instead_.see(line);
      sample_.push_back({lines_.number(), {}});
      for (Cells all(line, separator_); all.next(cell);) sample_.back().cells.emplace_back(cell);
      bytes += line.size();
    }
  }

  // Some may be empty, or the same, but not all empty.
  void name_columns() {
    bool any = false;
    for (std::size_t c = 0; c < layout_.columns.size(); ++c) {
      if (layout_.names == c) continue;
      table_.columns.push_back(plain_text(layout_.columns[c]));
      any |= !table_.columns.back().empty();
    }
    if (!any) table_.columns.clear();
  }

  void begin_row(std::size_t line) {
    line_ = line;
    column_ = 0;
    gap_ = open_quote_ = false;
    if (table_.rows % table_.block_rows != 0) return;
    table_.blocks.emplace_back();
    table_.blocks.back().reserve(table_.block_rows * table_.dimension);
  }

  void add(std::string_view cell) {
    if (layout_.empty_end && column_ == layout_.width && cell.empty()) return;
    const std::size_t column = column_++;
    open_quote_ |= !cell.empty() && cell[0] == '"';
    if (column >= layout_.width) return;  // counted for the message
    if (layout_.names == column) return add_name(cell);
    std::optional<double> value = number_(cell);
    if (halves_) halves_ = half_of_a_number(cell, column == 0);
    if (thousands_ && number_.decimal_comma() && cell.find(',') != std::string_view::npos) thousands_ = thousands(cell);
    if (!value && !missing_word(cell)) refuse(cell, column);
    if (!value || std::isnan(*value)) {
      value = std::numeric_limits<double>::quiet_NaN();
      gap_ = true;
      ++missing_cells_;
      if (gaps_.size() < 3) gaps_.push_back({table_.rows + 1, line_, column, std::string(cell.substr(0, 40))});
    }
    if (column == 0 && counts_rows_) {
      if (table_.rows == 0) first_count_ = *value;
      counts_rows_ = (first_count_ == 0 || first_count_ == 1) && *value == first_count_ + static_cast<double>(table_.rows);
    }
    if (column == 0 && layout_.called_names && distinct_) distinct_ = *value == std::floor(*value) && seen_.insert(*value).second;
    table_.blocks.back().push_back(*value);
  }

  void add_name(std::string_view cell) {
    if (cell.size() > longest_name)
      throw Error(
          Failure::input,
          fmt::format("{}: a row name of {} bytes; at most {} are kept", place(*layout_.names), cell.size(), longest_name),
          "shorten the names, or read the table without them (`names = none`)");
    latin1_ |= !valid_utf8(cell);
    table_.names.push_back(plain_text(cell));
  }

  void end_row() {
    if (column_ != layout_.width) refuse_width();
    missing_rows_ += gap_ ? 1 : 0;
    ++table_.rows;
  }

  std::string column_text(std::size_t column) const {
    if (layout_.columns.empty()) return fmt::format("column {}", column + 1);
    return fmt::format("column {} (\"{}\")", column + 1, shortened(plain_text(layout_.columns[column])));
  }
  std::string place(std::size_t column) const { return fmt::format("{}, line {}, {}", name_, line_, column_text(column)); }

  [[noreturn]] void refuse(std::string_view cell, std::size_t column) const {
    std::string hint =
        layout_.width == 1
            ? "points are numbers, separated by commas, semicolons, tabs or blanks"
            : fmt::format("leave columns of text out or turn them into numbers; `names = {}` takes it as row names", column + 1);
    const bool below_header = table_.rows == 0 && layout_.header, first_line = table_.rows == 0 && !layout_.header;
    if (number_.decimal_comma() && cell.find('.') != std::string_view::npos)
      hint = "numbers before it have decimal commas: write all of them in one way, without thousands separators";
    else if (below_header && separator_ == blanks && cell.find(',') != std::string_view::npos)
      hint = fmt::format("if line {} is a title and no header, start it with #", first_line_);
    else if (cell.find(',') != std::string_view::npos)
      hint = "write numbers with a decimal point and without thousands separators";
    else if (meant_as_number(cell)) hint = "write it as a decimal number, such as -1234.5 or 1e-3";
    else if (cell.find(" #") != std::string_view::npos)
      hint = "a comment needs a line of its own, unless white space separates the cells";
    else if (truth_value(cell)) hint = "write 1 and 0 for truth values";
    else if (below_header && sample_.size() > 2 && sample_[2].cells.size() > column &&
             NumberReader(number_)(sample_[2].cells[column]))
      hint = "correct it, or remove this line if it belongs to the header";
    else if (first_line) hint = "correct it; if this line is a comment, start it with #";
    if (first_line) hint += "; if it names the columns, say so: `header = yes`";
    throw Error(Failure::input, fmt::format("{}: '{}' is not a number", place(column), shortened(cell)), hint);
  }

  [[noreturn]] void refuse_width() const {
    const std::string more = column_ < layout_.width ? fmt::format("; column {} is missing", column_ + 1)
                                                     : fmt::format("; column {} is too many", layout_.width + 1);
    throw Error(
        Failure::input,
        fmt::format("{}, line {}: {}, but line {} has {}{}", name_, line_, counted(column_, "cell"), first_line_, layout_.width,
                    more),
        open_quote_ ? "a quote is not closed: close it, and leave line ends out of cells"
        : table_.rows == (layout_.header ? 0 : 1)
            ? fmt::format("every line needs the same number of cells; if line {} is a title, start it with #", first_line_)
            : "every line needs the same number of cells, separated in the same way");
  }

  [[noreturn]] void refuse_commas() const {
    throw Error(
        Failure::input,
        fmt::format("{}, line {}: commas may separate the cells, or be decimal commas between blanks", name_, first_line_),
        "write decimal points, or separate the cells by semicolons; where commas do separate them, put quotes around "
        "names with blanks");
  }

  [[noreturn]] void refuse_missing() const {
    std::vector<std::string> places;
    for (const Place& gap : gaps_)
      places.push_back(fmt::format("row {}, {} (line {}: {})", gap.row, column_text(gap.column), gap.line,
                                   gap.cell.empty() ? "the cell is empty" : fmt::format("'{}'", shortened(gap.cell))));
    throw Error(Failure::input,
                fmt::format("{}: missing values in {} of {}: {}{}", name_, missing_rows_, counted(table_.rows, "row"),
                            fmt::join(places, "; "), missing_cells_ > gaps_.size() ? "; ..." : ""),
                "fill the gaps, leave the column out, or leave these rows out: `missing = drop-rows`");
  }

  void describe() {
    const char* separators = separator_ == ';'    ? "semicolons"
                             : separator_ == '\t' ? "tabs"
                             : separator_ == ','  ? "commas"
                                                  : "blanks";
    std::string note = fmt::format("{}: {}", name_, lines_.packed() ? "gzip, " : "");
    if (layout_.width > 1) note += fmt::format("separated by {}, ", separators);
    if (number_.decimal_comma()) note += "decimal commas, ";
    if (!layout_.columns.empty()) {
      std::vector<std::string> shown;
      for (std::size_t c = 0; c < layout_.width && shown.size() < 3; ++c)
        if (layout_.names != c) shown.push_back(fmt::format("\"{}\"", shortened(plain_text(layout_.columns[c]))));
      note +=
          fmt::format("{} {} is the header ({}{}), ", layout_.header ? "line" : "the comment in line",
                      layout_.header ? first_line_ : comment_line_, fmt::join(shown, ", "), table_.dimension > 3 ? ", ..." : "");
    } else {
      note += "no header, ";
    }
    note += layout_.names ? fmt::format("{} names the rows", column_text(*layout_.names)) : "no row names";
    if (layout_.empty_end) note += ", the empty cell at the end of every line is left out";
    if (latin1_) note += ", names are Latin-1";
    table_.notes.push_back(note);
    if (layout_.doubtful)
      table_.notes.push_back(fmt::format("{}: line {} is taken for a point{}; if it names the columns, say so: `header = yes`",
                                         name_, first_line_,
                                         layout_.names ? fmt::format(" named \"{}\"", shortened(table_.names[0])) : ""));
    say_comments();
    if (number_.decimal_comma() && thousands_)
      table_.notes.push_back(fmt::format(
          "{}: every comma stands before three digits; if commas separate thousands, these numbers are read a thousand "
          "times too small: write them without",
          name_));
    const bool counts = !layout_.names && counts_rows_ && table_.rows > 2 && layout_.width > 1;
    if (halves_ && !counts)
      table_.notes.push_back(fmt::format(
          "{}: 2 columns of whole numbers separated by commas; if these are decimal commas of one column, write points", name_));
    if (layout_.called_names && distinct_ && !counts && table_.rows > 2)
      table_.notes.push_back(fmt::format(
          "{}: {} holds another whole number in every row and is used as a feature all the same; `names = 1` takes it as "
          "row names",
          name_, column_text(0)));
    if (counts)
      table_.notes.push_back(
          fmt::format("{}: {} counts the rows and is used as a feature all the same; `names = 1` takes it as row names", name_,
                      column_text(0)));
  }

  void say_comments() {
    Comments below = below_others_;
    if (!layout_.header && below_first_.count > 0) below = {below.count + below_first_.count, below_first_.line};
    if (below.count == 0) return;
    table_.notes.push_back(fmt::format("{}: {} below the first row {} with # and {} left out as {} (line {}{})", name_,
                                       counted(below.count, "line"), one_or_many(below.count, "begins", "begin"),
                                       one_or_many(below.count, "is", "are"), one_or_many(below.count, "a comment", "comments"),
                                       below.line, below.count > 1 ? ", ..." : ""));
  }

  std::string name_;
  const ReadOptions& options_;
  LineReader lines_;
  char separator_ = '\0';
  NumberReader number_{false};
  std::vector<TextRow> sample_;
  TextLayout layout_;
  TextTable table_;
  std::size_t first_line_ = 0, line_ = 0, column_ = 0;  // where the parser is
  bool gap_ = false, open_quote_ = false;               // this row lacks a value; has a quote that is not closed
  std::size_t filled_ = 0;                              // lines that hold something
  std::string comment_;                                 // the last one above them
  std::size_t comment_line_ = 0;
  Comments below_first_, below_others_;  // below the first of these lines alone, and below more
  std::vector<Place> gaps_;              // the first places that lack one
  std::size_t missing_rows_ = 0, missing_cells_ = 0;
  bool counts_rows_ = true, latin1_ = false;
  double first_count_ = 0;
  BlanksInstead blanks_instead_;     // could blanks separate the cells, and commas mark decimals
  bool halves_ = false;              // each row could be one number with a decimal comma
  bool thousands_ = true;            // no decimal comma that could not separate thousands
  bool distinct_ = true;             // of the first column, where it is called as one of names: whole numbers, each another
  std::unordered_set<double> seen_;  // these
};

}  // namespace

std::unique_ptr<PointSource> open_text(const std::string& path, const ReadOptions& options) {
  if (path == "-") return std::make_unique<TextSource>(TextParser(STDIN_FILENO, "standard input", options).parse());
  const SequentialFile file(path);
  return std::make_unique<TextSource>(TextParser(file.descriptor(), path, options).parse());
}

}  // namespace fd
