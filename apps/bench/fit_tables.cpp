#include "bench/fit_tables.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/random.hpp"

namespace fd::cli {

const std::vector<FitTable>& fit_tables() {
  static const std::vector<FitTable> tables = {{"circle", 2, 1, false, 10},      {"torus12", 12, 2, false, 3.5},
                                               {"torus24", 24, 2, false, 3.5},   {"binary64", 64, 2, true, 0.15},
                                               {"torus80", 80, 3, false, 3.5},   {"torus256", 256, 3, false, 3.5},
                                               {"torus784", 784, 3, false, 3.5}, {"torus5000", 5000, 3, false, 3.5}};
  return tables;
}

const FitTable& fit_table(const std::string& name) {
  for (const FitTable& table : fit_tables())
    if (name == table.name) return table;
  throw Error(Failure::misuse, fmt::format("no table {}", name), "see flashdiffusion-bench fit --help");
}

// Column c of row i: sqrt(2 / D) cos(w_c . u_i + p_c) + noise, u_i angles of a flat torus, w_c small whole numbers, not all zero, p_c a
// phase: the columns' variances add up to 1, and noise adds a tenth. Zeros and ones: its sign.
Table made(const FitTable& table, std::size_t rows) {
  const std::size_t columns = table.columns, angles = table.angles;
  const auto width = static_cast<double>(columns);
  const double size = std::sqrt(2 / width), noise = std::sqrt(0.1 / width);
  std::vector<double> phase(columns), waves(columns * angles);
  const Random whole(21, 0), phases(21, 1), places(21, 2), noises(21, 3);
  for (std::size_t c = 0; c < columns; ++c) {
    phase[c] = 2 * std::numbers::pi * phases.uniform(c);
    for (std::size_t a = 0; a < angles; ++a)
      waves[c * angles + a] = std::floor(5 * whole.uniform(c * angles + a)) - 2;  // -2 to 2
    double* wave = &waves[c * angles];
    if (std::all_of(wave, wave + angles, [](double w) { return w == 0; })) wave[c % angles] = 1;
  }
  if (columns == 2) {  // a circle: its cosine and its sine
    waves.assign(2, 1);
    phase = {0, -std::numbers::pi / 2};
  }
  Table points(rows, columns, false);
  std::vector<double> u(angles);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t a = 0; a < angles; ++a) u[a] = 2 * std::numbers::pi * places.uniform(i * angles + a);
    for (std::size_t c = 0; c < columns; ++c) {
      double t = phase[c];
      for (std::size_t a = 0; a < angles; ++a) t += waves[c * angles + a] * u[a];
      const double value = size * std::cos(t) + noise * noises.normal(i * columns + c);
      points.set(i, c, table.binary ? (value > 0 ? 1 : 0) : value);
    }
  }
  return points;
}

}  // namespace fd::cli
