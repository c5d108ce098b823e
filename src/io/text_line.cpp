#include "io/text_line.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/printable.hpp"
#include "io/bytes.hpp"
#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr std::size_t longest_line = std::size_t{64}
                                     << 20;  // millions of columns; a line that has no end must not fill the memory

bool blank(char c) { return c == ' ' || c == '\t'; }

// Calls f(position) for every character outside quotes until it returns true.
template <class F>
void outside_quotes(std::string_view line, F&& f) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    else if (!quoted && f(i)) return;
  }
}

// Whether a comment starts here; spreadsheets write "#N/A" for a value that is missing.
bool opens_comment(std::string_view rest) {
  if (rest.empty() || rest[0] != '#') return false;
  return !missing_word(rest.substr(0, rest.find_first_of(" \t,;")));
}

}  // namespace

LineReader::LineReader(int descriptor, std::string name)
    : name_(std::move(name)), stream_(descriptor, name_), buffer_(std::size_t{1} << 17) {}

bool LineReader::refill() {
  if (finished_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (end_ >= longest_line)
    throw Error(Failure::input,
                fmt::format("{}, line {}: longer than {} MiB without an end", name_, number_ + 1, longest_line >> 20),
                "this is not a text table: one point a line, or correct its suffix");
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());  // a line longer than the buffer
  const std::size_t got = stream_.read(buffer_.data() + end_, buffer_.size() - end_);
  finished_ = got == 0;
  end_ += got;
  total_ += got;
  return got > 0;
}

std::string_view LineReader::handed(std::size_t end, std::size_t skip) {
  std::string_view line(buffer_.data() + begin_, end - begin_);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  begin_ = scanned_ = end + skip;
  ++number_;
  return line;
}

bool LineReader::next(std::string_view& line) {
  for (;;) {
    const void* found = std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_);
    if (found != nullptr) {
      line = handed(static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()), 1);
      return true;
    }
    scanned_ = end_;
    if (refill()) continue;
    if (begin_ == end_) return false;
    line = handed(end_, 0);
    return true;
  }
}

char find_separator(std::string_view line) {
  // "1 2 # a, b" is separated by blanks; of "PB #1,a" the comma says that no comment follows.
  if (const std::string_view bare = without_comment(line, blanks);
      bare.find_first_of(" \t,;") != std::string_view::npos ||
      bare.find_first_not_of("0123456789+-.eE") == std::string_view::npos)
    line = bare;
  bool semicolon = false, tab = false, comma = false;
  outside_quotes(line, [&](std::size_t i) {
    semicolon |= line[i] == ';';
    tab |= line[i] == '\t';
    comma |= line[i] == ',';
    return false;
  });
  return semicolon ? ';' : tab ? '\t' : comma ? ',' : blanks;
}

std::string_view without_comment(std::string_view line, char separator) {
  if (std::memchr(line.data(), '#', line.size()) == nullptr) return line;
  const std::size_t begin = line.find_first_not_of(" \t");
  if (opens_comment(line.substr(begin))) return {};
  if (separator != blanks && separator != '\t') return line;
  std::size_t end = line.size(), cell = 0;  // where the cell before `i` began
  outside_quotes(line, [&](std::size_t i) {
    if (separator == '\t' ? line[i] == '\t' : blank(line[i])) cell = i + 1;
    if (!opens_comment(line.substr(i)) || !trimmed(line.substr(cell, i - cell)).empty()) return false;
    end = i;
    return true;
  });
  if (end == line.size()) return line;
  line = line.substr(0, end);
  while (!line.empty() && blank(line.back())) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string plain_text(std::string_view cell) {
  std::string text(cell);
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  return as_utf8(text);
}

bool Cells::next(std::string_view& cell) {
  if (done_) return false;
  std::size_t end = rest_.size();
  const auto separates = [&](char c) { return separator_ == blanks ? blank(c) : c == separator_; };
  if (separator_ == blanks) rest_ = trimmed(rest_), end = rest_.size();
  std::size_t begin = 0;
  if (separator_ != '\t')
    while (begin < rest_.size() && blank(rest_[begin])) ++begin;
  if (begin < rest_.size() && rest_[begin] == '"') {
    const std::string_view from = rest_.substr(begin);
    outside_quotes(from, [&](std::size_t i) {
      if (separates(from[i])) end = begin + i;
      return separates(from[i]);
    });
    open_ = end == rest_.size() && std::count(from.begin(), from.end(), '"') % 2 != 0;
  } else {
    for (end = begin; end < rest_.size() && !separates(rest_[end]);) ++end;
  }
  cell = trimmed(rest_.substr(0, end));
  done_ = end >= rest_.size();
  if (!done_) rest_.remove_prefix(end + 1);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = trimmed(cell.substr(1, cell.size() - 2));
  return true;
}

}  // namespace fd
