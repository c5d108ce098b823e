// Which rows of a table each rank has: equal shares of adjacent rows, for no more ranks than have `least` rows each. Ranks past these have none.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fd::ranks {

class Shares {
 public:
  Shares(std::size_t rows, std::size_t ranks, std::size_t least)
      : rows_(rows), sharing_(std::clamp<std::size_t>(rows / std::max<std::size_t>(1, least), 1, ranks)) {}

  std::size_t sharing() const { return sharing_; }  // ranks that have rows, the first ones
  std::size_t first(std::size_t rank) const { return rank >= sharing_ ? rows_ : quotient(rank); }
  std::size_t most() const { return rows_ / sharing_ + (rows_ % sharing_ > 0 ? 1 : 0); }  // rows that a rank has
  std::size_t count(std::size_t rank) const { return first(rank + 1) - first(rank); }

 private:
  // rows * rank / sharing without a product that overflows
  std::size_t quotient(std::size_t rank) const { return rows_ / sharing_ * rank + rows_ % sharing_ * rank / sharing_; }
  std::size_t rows_, sharing_;
};

}  // namespace fd::ranks
