// Columns of the map as the page holds them. Modes and density have 16 bits a row, steps of a 65,534th of their range; words are places in a
// list; numbers that were given are kept exactly.
//
// Guarantees: a mode or density reads back to within half a step, a label as it was given; what is not a finite number, and an empty word, is
// `missing`, but infinite labels stay so. Does not know: HTML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <flashdiffusion/report.hpp>

namespace fd {

struct Column {
  static constexpr std::uint16_t missing = 65535, other = 65534;  // other: a word that is not in the list
  std::string name, kind;                                         // "mode", "density", "number", "word"
  // How a row's value is had from what is kept of it:
  //   "steps"    low + step * code
  //   "decimal"  (low + code) / 10^decimals, exactly; the largest code is missing
  //   "float"    itself, as an IEEE number
  //   "words"    words[code]
  std::string form;
  double low = 0, step = 0;
  unsigned decimals = 0;
  std::vector<std::string> words;  // the most frequent first
  // One a row shown, in one of these: as narrow as it can be.
  std::vector<std::uint16_t> codes;
  std::vector<std::uint32_t> wide;
  std::vector<std::uint64_t> widest;

  std::size_t rows() const { return codes.size() + wide.size() + widest.size(); }
  std::size_t bytes_a_row() const { return !codes.empty() ? 2 : !wide.empty() ? 4 : 8; }
};

Column number_column(std::string name, std::string kind, const std::vector<std::size_t>& rows,
                     const std::function<double(std::size_t)>& value);
Column exact_column(const Labels& labels, const std::vector<std::size_t>& rows);  // of numbers
Column word_column(const Labels& labels, const std::vector<std::size_t>& rows);
// As one of these: at most 20 different whole numbers are clusters, and so words, wherever they come from.
Column label_column(const Labels& labels, const std::vector<std::size_t>& rows);

// Little-endian bytes of the codes, and of whole numbers of 32 bits.
std::string base64(const std::vector<std::uint16_t>& codes);
std::string base64(const std::vector<std::uint32_t>& numbers);
std::string base64(const Column& column);

}  // namespace fd
