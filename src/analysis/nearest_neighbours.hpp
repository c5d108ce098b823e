// How much of a labelling a map keeps: the share of rows that the vote of their nearest neighbours in the map gets right.
//
// Guarantees: cross-validated, a row is never its own neighbour nor that of its fold; ties are broken the same way on every machine
// (equal distances by row number, equal votes by the nearest row that voted for one of them).
// Does not know: where the coordinates come from.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

namespace fd {

// coordinates: a row a point; labels: the class of each row; fold: of each row (random_folds). NaN where a coordinate is not finite.
// Error(misuse) where the sizes do not agree or a row has fewer than `neighbours` rows in the other folds.
double neighbour_accuracy(const Eigen::MatrixXd& coordinates, const std::vector<std::size_t>& labels,
                          const std::vector<std::size_t>& fold, std::size_t neighbours);

}  // namespace fd
