#include "analysis/nearest_neighbours.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <flashdiffusion/error.hpp>

namespace fd {
namespace {

using Near = std::pair<double, std::size_t>;  // squared distance, row

std::size_t vote(const std::vector<Near>& nearest, const std::vector<std::size_t>& labels) {
  std::map<std::size_t, std::size_t> votes;
  for (const Near& near : nearest) ++votes[labels[near.second]];
  std::size_t most = 0;
  for (const auto& [label, count] : votes) most = std::max(most, count);
  for (const Near& near : nearest)
    if (votes[labels[near.second]] == most) return labels[near.second];
  return 0;
}

void check(const Eigen::MatrixXd& coordinates, const std::vector<std::size_t>& labels, const std::vector<std::size_t>& fold,
           std::size_t neighbours) {
  const auto rows = static_cast<std::size_t>(coordinates.rows());
  if (labels.size() != rows || fold.size() != rows)
    throw Error(
        Failure::misuse,
        std::to_string(rows) + " rows, " + std::to_string(labels.size()) + " labels, " + std::to_string(fold.size()) + " folds",
        "one label and one fold a row");
  std::map<std::size_t, std::size_t> sizes;
  for (const std::size_t f : fold) ++sizes[f];
  for (const auto& [f, size] : sizes)
    if (neighbours == 0 || rows - size < neighbours)
      throw Error(Failure::misuse, std::to_string(neighbours) + " neighbours among " + std::to_string(rows - size) + " rows",
                  "ask for at least one, and for no more than the other folds hold");
}

}  // namespace

double neighbour_accuracy(const Eigen::MatrixXd& coordinates, const std::vector<std::size_t>& labels,
                          const std::vector<std::size_t>& fold, std::size_t neighbours) {
  check(coordinates, labels, fold, neighbours);
  if (!coordinates.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t rows = labels.size();
  const Eigen::MatrixXd columns = coordinates.transpose();  // a point is contiguous
  std::size_t right = 0;
  std::vector<Near> candidates;
  for (std::size_t i = 0; i < rows; ++i) {
    candidates.clear();
    const auto here = columns.col(static_cast<Eigen::Index>(i));
    for (std::size_t j = 0; j < rows; ++j)
      if (fold[j] != fold[i]) candidates.emplace_back((columns.col(static_cast<Eigen::Index>(j)) - here).squaredNorm(), j);
    const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(neighbours);
    std::partial_sort(candidates.begin(), end, candidates.end());
    if (vote({candidates.begin(), end}, labels) == labels[i]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(rows);
}

}  // namespace fd
