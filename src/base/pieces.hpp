// Reading a source of points front to back without holding all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <flashdiffusion/points.hpp>

namespace fd {

// Calls f(first, count, rows) over the source in pieces of about a megabyte of doubles.
template <class F>
void in_pieces(PointSource& source, F&& f) {
  const std::size_t dimension = source.dimension(), n = source.rows();
  const std::size_t piece = std::max<std::size_t>(1, (std::size_t{1} << 17) / std::max<std::size_t>(1, dimension));
  std::vector<double> rows(std::min(piece, n) * dimension);
  for (std::size_t first = 0; first < n; first += piece) {
    const std::size_t count = piece < n - first ? piece : n - first;
    source.read(first, count, rows.data());
    f(first, count, rows.data());
  }
}

}  // namespace fd
