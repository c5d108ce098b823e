// What the arithmetic of a kernel is chosen by, from one reading of the rows: how far out they lie, and whether some are the same. Equal rows share a
// number; two that are not equal share one once in 10^19.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fd {

// Takes another number into a checksum.
inline std::uint64_t mixed(std::uint64_t sum, std::uint64_t bits) {
  sum = (sum ^ bits) * 0x9e3779b97f4a7c15u;
  return sum ^ sum >> 29;
}

class RowCensus {
 public:
  // `wide`: rows are compared as doubles, else as they are rounded to float.
  RowCensus(std::size_t dimension, bool wide) : dimension_(dimension), wide_(wide) {}

  void add(const double* row) {
    double square = 0;
    std::uint64_t number = 0;
    for (std::size_t c = 0; c < dimension_; ++c) {
      square += row[c] * row[c];
      largest_coordinate_ = std::max(largest_coordinate_, std::abs(row[c]));
      const double value = (wide_ ? row[c] : static_cast<double>(static_cast<float>(row[c]))) + 0.0;  // one zero, not two
      number = mixed(number, std::bit_cast<std::uint64_t>(value));
    }
    largest_square_ = std::max(largest_square_, square);
    numbers_.push_back(number);
  }

  double largest_square() const { return largest_square_; }          // of |x|
  double largest_coordinate() const { return largest_coordinate_; }  // of |x_c|
  bool copies() {
    std::sort(numbers_.begin(), numbers_.end());
    return std::adjacent_find(numbers_.begin(), numbers_.end()) != numbers_.end();
  }

 private:
  std::size_t dimension_;
  bool wide_;
  double largest_square_ = 0, largest_coordinate_ = 0;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace fd
