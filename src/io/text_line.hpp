// Lines and cells of a text table. LineReader hands out one line at a time from a descriptor, a buffer at a time, unpacking gzip where it
// finds it; Cells cuts a line at its separator. Neither knows which cells are numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/unpacked_stream.hpp"

namespace fd {

class LineReader {
 public:
  LineReader(int descriptor, std::string name);  // the descriptor is the caller's

  // The next line without its end (LF or CRLF); valid until the next call. False at the end. A line without an end, such as an endless
  // device gives, is an Error(input) before it fills the memory.
  bool next(std::string_view& line);
  std::size_t number() const { return number_; }    // of the line handed out last, from 1
  bool empty() const { return total_ == 0; }        // nothing at all has come
  bool packed() const { return stream_.packed(); }  // it came as gzip

 private:
  bool refill();
  std::string_view handed(std::size_t end, std::size_t skip);

  std::string name_;
  UnpackedStream stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, scanned_ = 0;
  std::size_t number_ = 0, total_ = 0;
  bool finished_ = false;
};

inline constexpr char blanks = ' ';  // the separator "any run of spaces and tabs"

// Semicolon, tab, comma, else blanks: the first of these that occurs outside quotes and before a comment.
char find_separator(std::string_view line);

// The line without its comment: nothing where "#" is the first character that is no blank; where white space separates, up to the first cell
// outside quotes that starts with "#", and the blanks before it. "#" elsewhere belongs to its cell, and so it does in words for missing values.
std::string_view without_comment(std::string_view line, char separator);

std::string_view trimmed(std::string_view text);

// The words of a cell as they were meant: quotes that were doubled inside quotes are single, and the text is UTF-8.
std::string plain_text(std::string_view cell);

class Cells {
 public:
  Cells(std::string_view line, char separator) : rest_(line), separator_(separator) {}
  bool next(std::string_view& cell);  // blanks and one pair of quotes around it are taken off; quotes doubled inside it stay so
  bool open_quote() const { return open_; }  // of the cell handed out last: the line ends inside it

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false, open_ = false;
};

}  // namespace fd
