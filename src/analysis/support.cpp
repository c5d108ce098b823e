#include <flashdiffusion/support.hpp>

#include <cmath>
#include <string>

#include <flashdiffusion/error.hpp>

#include "analysis/support_meter.hpp"
#include "base/pieces.hpp"
#include "base/sample.hpp"
#include "base/team.hpp"

namespace fd {
namespace {

constexpr std::size_t most_neighbours = 65536;  // distances of twice as many are held for every sampled row

void check(double beta, const SupportOptions& options) {
  if (!(beta > 0 && std::isfinite(beta)))
    throw Error(Failure::misuse, "`beta = " + std::to_string(beta) + "`", "a bandwidth is a finite number above zero");
  for (const double tau : options.tolerances)
    if (!(tau > 0 && tau < 1))
      throw Error(Failure::misuse, "tau = " + std::to_string(tau), "a number above 0 and below 1, such as 1e-7");
  for (const std::size_t k : options.neighbours)
    if (k == 0 || k > most_neighbours)
      throw Error(Failure::misuse, std::to_string(k) + " neighbours", "ask for 1 to " + std::to_string(most_neighbours));
}

void check_values(const double* values, std::size_t first, std::size_t count, std::size_t dimension) {
  for (std::size_t i = 0; i < count * dimension; ++i)
    if (!std::isfinite(values[i]))
      throw Error(Failure::input,
                  std::string(std::isnan(values[i]) ? "NaN" : "infinity") + " in row " +
                      std::to_string(first + i / dimension + 1) + ", column " + std::to_string(i % dimension + 1),
                  "leave such rows out");
}

}  // namespace

KernelSupport kernel_support(PointSource& points, double beta, const SupportOptions& options) {
  check(beta, options);
  const std::size_t n = points.rows(), dimension = points.dimension();
  if (n == 0 || dimension == 0) throw Error(Failure::input, "there are no points", "give at least one row and one column");
  const std::vector<std::size_t> rows = sampled_rows(n, options.rows == 0 ? n : options.rows, options.seed);
  std::vector<double> queries(rows.size() * dimension);
  for (std::size_t i = 0; i < rows.size(); ++i) points.read(rows[i], 1, &queries[i * dimension]);
  Team team(options.threads);
  SupportMeter meter(std::move(queries), dimension, beta, options.neighbours, options.tolerances);
  in_pieces(points, [&](std::size_t first, std::size_t count, const double* values) {
    check_values(values, first, count, dimension);
    if (options.observer != nullptr) {
      if (options.observer->stop()) throw Error(Failure::interrupted, "stopped");
      Progress progress;
      progress.stage = "support";
      progress.n = n;
      progress.beta = beta;
      progress.fraction = static_cast<double>(first) / static_cast<double>(n);
      options.observer->progress(progress);
    }
    meter.add(values, count, &team);
  });
  KernelSupport result = meter.result();
  result.rows = rows;
  return result;
}

}  // namespace fd
