#include "fit/centred_source.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <flashdiffusion/error.hpp>

namespace fd {

PointSummary summarise(PointSource& source) {
  PointSummary summary;
  summary.rows = source.rows();
  summary.dimension = source.dimension();
  const std::size_t dimension = summary.dimension;
  if (summary.rows == 0 || dimension == 0)
    throw Error(Failure::input, "there are no points", "give a table with at least 3 rows and 1 column");

  // Sums of x - x_first: exact enough with any common offset.
  std::vector<double> origin(dimension), sum(dimension, 0.0);
  std::vector<char> varies(dimension, 0);
  std::size_t bad = 0, bad_row = 0, bad_column = 0;
  double bad_value = 0;
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
    if (first == 0) std::copy(rows, rows + dimension, origin.begin());
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < dimension; ++c) {
        const double value = rows[i * dimension + c];
        if (!std::isfinite(value)) {
          if (bad++ == 0) {
            bad_row = first + i;
            bad_column = c;
            bad_value = value;
          }
          continue;
        }
        sum[c] += value - origin[c];
        if (value != origin[c]) varies[c] = 1;
      }
  });
  if (bad > 0) {
    std::string what = std::string(std::isnan(bad_value) ? "NaN" : "an infinite value") + " in row " +
                       std::to_string(bad_row + 1) + ", column " + std::to_string(bad_column + 1) + " (counted from 1)";
    if (bad > 1) what += "; " + std::to_string(bad - 1) + " more not-finite values";
    throw Error(Failure::input, what, "remove these rows or fill them in before fitting");
  }
  summary.mean.resize(dimension);
  for (std::size_t c = 0; c < dimension; ++c) {
    summary.mean[c] = origin[c] + sum[c] / static_cast<double>(summary.rows);
    if (varies[c] != 0) summary.varying.push_back(c);
  }
  if (summary.varying.empty() && summary.rows > 1)
    throw Error(Failure::input, "all " + std::to_string(summary.rows) + " points are equal: there is no geometry here",
                "check how the table was made");
  double square = 0;
  in_pieces(source, [&](std::size_t, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i)
      for (const std::size_t c : summary.varying) square += std::pow(rows[i * dimension + c] - summary.mean[c], 2);
  });
  summary.mean_square = square / static_cast<double>(summary.rows);
  if (!std::isfinite(square))
    throw Error(Failure::input, "the points are too far apart: their squared distances overflow", "rescale the columns");
  return summary;
}

void CentredSource::centre(const double* row, double* out) const {
  for (std::size_t v = 0; v < summary_.varying.size(); ++v) {
    const std::size_t c = summary_.varying[v];
    out[v] = row[c] - summary_.mean[c];
  }
}

void CentredSource::read(std::size_t first, std::size_t count, double* out) {
  const std::size_t wide = summary_.dimension, narrow = summary_.varying.size();
  if (rows_.empty()) {
    buffer_.resize(count * wide);
    source_.read(first, count, buffer_.data());
    for (std::size_t i = 0; i < count; ++i) centre(buffer_.data() + i * wide, out + i * narrow);
    return;
  }
  // chosen rows: neighbours no further apart than a page or so are read together
  for (std::size_t i = 0; i < count;) {
    std::size_t last = i + 1;
    while (last < count && rows_[first + last] - rows_[first + i] < 64) ++last;
    const std::size_t from = rows_[first + i], span = rows_[first + last - 1] - from + 1;
    buffer_.resize(span * wide);
    source_.read(from, span, buffer_.data());
    for (; i < last; ++i) centre(buffer_.data() + (rows_[first + i] - from) * wide, out + i * narrow);
  }
}

}  // namespace fd
