#include "analysis/folds.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <flashdiffusion/error.hpp>

#include "base/random.hpp"

namespace fd {

std::vector<std::size_t> random_folds(std::size_t rows, std::size_t folds, std::uint64_t seed) {
  if (folds < 2 || folds > rows)
    throw Error(Failure::misuse, std::to_string(folds) + " folds of " + std::to_string(rows) + " rows",
                "cross-validation takes at least two folds, and a row for each");
  // a random order: rows by a random key, equal keys by their number
  const Random random(seed, 0);
  std::vector<double> key(rows);
  for (std::size_t i = 0; i < rows; ++i) key[i] = random.uniform(i);
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key[a] < key[b] || (key[a] == key[b] && a < b); });
  std::vector<std::size_t> fold(rows);
  for (std::size_t place = 0; place < rows; ++place) fold[order[place]] = place % folds;
  return fold;
}

}  // namespace fd
