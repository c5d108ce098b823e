// What a cell of a text table is: a number, missing, or a word. A number may have a decimal point or, where commas do not separate, a
// decimal comma; which of the two a table uses is settled by its first number that has one, and the other is then no number.
#pragma once

#include <optional>
#include <string_view>

namespace fd {

class NumberReader {
 public:
  explicit NumberReader(bool commas) : commas_(commas) {}

  // NaN and infinity are numbers. What is too large or too small for a double becomes infinity or zero.
  std::optional<double> operator()(std::string_view cell);
  bool decimal_comma() const { return mark_ == ','; }

 private:
  bool commas_;
  char mark_ = '\0';  // '.' or ',' once a number had it
};

// Empty, NA, null and the like, "#N/A" and other errors of spreadsheets.
bool missing_word(std::string_view cell);

// No number, but meant as one: hexadecimal (0x10), with thousands separators (1,234 or 1 234), with a typographic minus (−5), with a letter
// for a digit (O.5). Not "2nd", "16S" or "25%", which label columns.
bool meant_as_number(std::string_view cell);

// True, false, yes, no.
bool truth_value(std::string_view cell);

// Digits only: what counts and labels look like.
bool digits_only(std::string_view cell);

}  // namespace fd
