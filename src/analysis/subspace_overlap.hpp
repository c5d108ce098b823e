// How much of one subspace of functions on the rows lies in another, whatever bases they are given in.
//
// Guarantees: 1 where one holds the other, 0 where they are orthogonal; the same for any invertible mixing of the columns of either. Sums are
// made block by block in double, and neither set of columns is copied.
#pragma once

#include <cstddef>
#include <functional>

namespace fd {

// Columns of functions on rows: `read` writes the values of one row.
struct Functions {
  std::size_t columns;
  std::function<void(std::size_t row, double* values)> read;
};

// |G_aa^-1/2 G_ab G_bb^-1/2|_F^2 / min(columns), G the covariances about the mean over the rows. NaN where a value is.
double subspace_overlap(std::size_t rows, const Functions& a, const Functions& b);

}  // namespace fd
