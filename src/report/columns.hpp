// Columns of the map as the page holds them: 16 bits a row. Numbers are steps of a 65,534th of their range, words are places in a list.
//
// Guarantees: a value reads back to within half a step; what is not a finite number, and an empty word, is `missing`. Does not know: HTML.
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
  double low = 0, step = 0;                                       // of numbers: value = low + step * code
  std::vector<std::string> words;                                 // the most frequent first
  std::vector<std::uint16_t> codes;                               // one a row shown
};

Column number_column(std::string name, std::string kind, const std::vector<std::size_t>& rows,
                     const std::function<double(std::size_t)>& value);
Column word_column(const Labels& labels, const std::vector<std::size_t>& rows);

// Little-endian bytes of the codes, and of whole numbers of 32 bits.
std::string base64(const std::vector<std::uint16_t>& codes);
std::string base64(const std::vector<std::uint32_t>& numbers);

}  // namespace fd
