// Some rows of a table as a matrix, and many of them a block at a time: what is made of rows need not hold all of them at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include <flashdiffusion/points.hpp>

namespace fd {

constexpr std::size_t rows_a_block = 4096;

// The first `columns` of these rows, in double.
inline Eigen::MatrixXd rows_of(const Table& table, const std::vector<std::size_t>& rows, std::size_t columns) {
  Eigen::MatrixXd values(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(columns));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j)
      values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = table(rows[i], j);
  return values;
}

// f(some of the rows), in their order.
template <class F>
void in_blocks(const std::vector<std::size_t>& rows, F&& f) {
  for (std::size_t first = 0; first < rows.size(); first += rows_a_block)
    f(std::vector<std::size_t>(rows.begin() + static_cast<std::ptrdiff_t>(first),
                               rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), first + rows_a_block))));
}

}  // namespace fd
