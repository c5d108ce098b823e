// Tables that break promises kept on random data: equal distances, equal norms, coincident rows, degenerate spectra, scales far apart.
// Each has a name and is a pure function of (rows, dimension, seed), the same on every machine. Knows nothing of the library but its
// random numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/datasets.hpp"

namespace fd::test {

// Every entry from its row and column.
template <class Entry>
Dataset table_of(std::size_t rows, std::size_t dimension, Entry&& entry) {
  Dataset data{rows, dimension, std::vector<double>(rows * dimension)};
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < dimension; ++c) data.x[i * dimension + c] = entry(i, c);
  return data;
}

// A number in (0, 1) or a standard normal one for each (i, j); independent families by `stream`.
inline double uniform_at(std::uint64_t seed, std::uint64_t stream, std::size_t i, std::size_t j = 0) {
  return Random(seed, stream).uniform(std::uint64_t{i} << 24 | j);
}
inline double normal_at(std::uint64_t seed, std::uint64_t stream, std::size_t i, std::size_t j = 0) {
  return Random(seed, stream).normal(std::uint64_t{i} << 24 | j);
}
inline std::size_t integer_at(std::uint64_t seed, std::uint64_t stream, std::size_t i, std::size_t below) {
  return std::min(below - 1, static_cast<std::size_t>(uniform_at(seed, stream, i) * static_cast<double>(below)));
}

inline Dataset signs(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return uniform_at(seed, 1, i, c) < 0.5 ? -1.0 : 1.0; });
}

// Sylvester's: rows are orthogonal where the dimension is a power of two, and come again after so many.
inline Dataset hadamard(std::size_t rows, std::size_t dimension, std::uint64_t /*seed*/) {
  return table_of(rows, dimension, [](std::size_t i, std::size_t c) { return std::popcount(i & c) % 2 == 0 ? 1.0 : -1.0; });
}

// One sequence of signs, moved on by one from row to row.
inline Dataset circulant(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  const std::size_t period = std::max(rows, dimension);
  return table_of(rows, dimension,
                  [&](std::size_t i, std::size_t c) { return uniform_at(seed, 2, (i + c) % period) < 0.5 ? -1.0 : 1.0; });
}

// Points of a cubic grid, as many to a side as hold all rows (at least 2).
inline Dataset lattice(std::size_t rows, std::size_t dimension, std::uint64_t /*seed*/) {
  const double root = std::pow(static_cast<double>(rows), 1 / static_cast<double>(dimension));
  const auto side = std::max<std::size_t>(2, static_cast<std::size_t>(std::ceil(root - 1e-9)));
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    for (std::size_t step = 0; step < c && i > 0; ++step) i /= side;
    return static_cast<double>(i % side);
  });
}

inline Dataset one_hot(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension,
                  [&](std::size_t i, std::size_t c) { return integer_at(seed, 3, i, dimension) == c ? 1.0 : 0.0; });
}

inline Dataset few_values(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  constexpr double values[] = {0, 0.5, 2};
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return values[std::min<std::size_t>(2, static_cast<std::size_t>(3 * uniform_at(seed, 4, i, c)))];
  });
}

inline Dataset collinear(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return 3 * normal_at(seed, 5, c) + normal_at(seed, 6, i) * normal_at(seed, 7, c);
  });
}

// Evenly spaced points of a line.
inline Dataset line(std::size_t rows, std::size_t dimension, std::uint64_t /*seed*/) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return static_cast<double>(i) * static_cast<double>(c + 1) / static_cast<double>(rows);
  });
}

// A normal sample of a plane, turned into `dimension` coordinates.
inline Dataset plane(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return normal_at(seed, 8, i) * normal_at(seed, 9, c) + normal_at(seed, 10, i) * normal_at(seed, 11, c);
  });
}

inline Dataset normal(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return normal_at(seed, 12, i, c); });
}

// Normal clusters of unit width, their centres `apart` from one another along the first coordinate.
inline Dataset clusters(std::size_t rows, std::size_t dimension, std::uint64_t seed, std::size_t count, double apart) {
  Dataset data = normal(rows, dimension, seed);
  for (std::size_t i = 0; i < rows; ++i) data.x[i * dimension] += apart * static_cast<double>(i % count);
  return data;
}
inline Dataset two_clusters(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return clusters(rows, dimension, seed, 2, 1e3);
}
inline Dataset three_clusters(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return clusters(rows, dimension, seed, 3, 1e4);
}

// Normal blobs of which each has a slow spectrum of its own: eigenvalues next to 1 come in groups of as many as there are blobs.
inline Dataset blobs(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return clusters(rows, dimension, seed, 2 + seed % 4, 40);
}
// The same with lines that are copies of each other, and so are their eigenvalues, to the last digit.
inline Dataset copied_lines(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  const std::size_t count = 2 + seed % 4, length = (rows + count - 1) / count;
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return (c == 0 ? 8.0 * static_cast<double>(i % count) : 0.0) +
           (c + 1 == dimension ? static_cast<double>(i / count) / static_cast<double>(length) : 0.0);
  });
}

// The first `distinct` rows of a normal sample, over and over.
inline Dataset repeated(std::size_t rows, std::size_t dimension, std::uint64_t seed, std::size_t distinct) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return normal_at(seed, 13, i % distinct, c); });
}
inline Dataset twice(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return repeated(rows, dimension, seed, (rows + 1) / 2);
}
inline Dataset five_rows(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return repeated(rows, dimension, seed, 5);
}

// Student's t with two degrees of freedom.
inline Dataset heavy_tails(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return normal_at(seed, 14, i, c) / std::sqrt(-std::log(uniform_at(seed, 15, i, c)));
  });
}

// A curved sheet of unit size with a little noise in the other columns.
inline double sheet_at(std::uint64_t seed, std::size_t i, std::size_t c) {
  const double a = uniform_at(seed, 19, i), b = uniform_at(seed, 20, i), noise = 0.02 * normal_at(seed, 21, i, c);
  return noise + (c == 0 ? a : c == 1 ? b : c == 2 ? 0.3 * std::sin(3 * a) : 0);
}

// A sheet, and 15 rows in 1000 anywhere in a cube twenty times its size.
inline Dataset strays(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return uniform_at(seed, 22, i) < 0.015 ? 20 * uniform_at(seed, 23, i, c) - 10 : sheet_at(seed, i, c);
  });
}

// A sheet, and one row in 60 in a small group ten times its size away.
inline Dataset rare_group(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    if (i % 60 != 7) return sheet_at(seed, i, c);
    return 0.05 * normal_at(seed, 21, i, c) + (c == 0 ? 10.0 : 0.0);
  });
}

// Nine rows of ten in a core a thousandth as wide as the halo of the others.
inline Dataset core_and_halo(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension,
                  [&](std::size_t i, std::size_t c) { return (i % 10 == 3 ? 1 : 1e-3) * normal_at(seed, 24, i, c); });
}

// One entry that stands for a missing value.
inline Dataset fill_value(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  Dataset data = normal(rows, dimension, seed);
  data.x[integer_at(seed, 16, 0, data.x.size())] = 1e6;
  return data;
}

inline Dataset sparse_counts(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) {
    return uniform_at(seed, 17, i, c) < 0.9 ? 0.0 : 1 + std::floor(-3 * std::log(uniform_at(seed, 18, i, c)));
  });
}

// Up to six circles of unequal radii, two coordinates each; the rest zero.
inline Dataset circles(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  const Dataset wide = torus(rows, 12, seed);
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return c < 12 ? wide.x[i * 12 + c] : 0.0; });
}

inline Dataset roll(std::size_t rows, std::size_t dimension, std::uint64_t seed) {
  const Dataset three = swiss_roll(rows, seed);
  return table_of(rows, dimension, [&](std::size_t i, std::size_t c) { return c < 3 ? three.x[i * 3 + c] : 0.0; });
}

struct TableKind {
  std::string_view name;
  Dataset (*make)(std::size_t rows, std::size_t dimension, std::uint64_t seed);
};

inline std::span<const TableKind> table_kinds() {
  static constexpr std::array kinds = {
      TableKind{"signs", signs},
      TableKind{"hadamard", hadamard},
      TableKind{"circulant", circulant},
      TableKind{"lattice", lattice},
      TableKind{"one_hot", one_hot},
      TableKind{"few_values", few_values},
      TableKind{"collinear", collinear},
      TableKind{"line", line},
      TableKind{"plane", plane},
      TableKind{"normal", normal},
      TableKind{"two_clusters", two_clusters},
      TableKind{"three_clusters", three_clusters},
      TableKind{"blobs", blobs},
      TableKind{"copied_lines", copied_lines},
      TableKind{"twice", twice},
      TableKind{"five_rows", five_rows},
      TableKind{"heavy_tails", heavy_tails},
      TableKind{"strays", strays},
      TableKind{"rare_group", rare_group},
      TableKind{"core_and_halo", core_and_halo},
      TableKind{"fill_value", fill_value},
      TableKind{"sparse_counts", sparse_counts},
      TableKind{"circles", circles},
      TableKind{"roll", roll},
  };
  return kinds;
}

inline Dataset make_table(std::string_view name, std::size_t rows, std::size_t dimension, std::uint64_t seed = 1) {
  for (const TableKind& kind : table_kinds())
    if (kind.name == name) return kind.make(rows, dimension, seed);
  throw std::invalid_argument("no table is called " + std::string(name));
}

// Half the inverse mean square distance of a row from the mean: the bandwidth on the scale of the whole table (1 where all rows are equal).
inline double variance_beta(const Dataset& data) {
  std::vector<double> mean(data.dimension, 0.0);
  const auto rows = static_cast<double>(data.rows);
  for (std::size_t i = 0; i < data.x.size(); ++i) mean[i % data.dimension] += data.x[i] / rows;
  double square = 0;
  for (std::size_t i = 0; i < data.x.size(); ++i) square += std::pow(data.x[i] - mean[i % data.dimension], 2) / rows;
  return square > 0 ? 0.5 / square : 1;
}

}  // namespace fd::test
