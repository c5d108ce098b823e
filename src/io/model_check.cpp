#include "io/model_check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/counted.hpp"

namespace fd {
namespace {

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

bool finite(const Table& table) {
  return table.visit([](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](auto value) { return std::isfinite(value); });
  });
}

// sum_i pi_i psi_i^2 = 1 over the rows of the fit, pi = d / sum d. A row set aside was placed by extension: a mean of psi over the rows of the
// fit, divided by an eigenvalue that is larger than the precision's error.
std::string wrong_mode(const Model& model) {
  constexpr double about = 1e-3;  // 32-bit psi
  const double total = std::accumulate(model.d.begin(), model.d.end(), 0.0);
  for (std::size_t j = 0; j < model.modes(); ++j) {
    double norm = 0, largest = 0, aside = 0;
    for (std::size_t i = 0; i < model.n; ++i) {
      const double value = std::abs(model.psi(i, j));
      norm += model.d[i] / total * value * value;
      (model.d[i] > 0 ? largest : aside) = std::max(model.d[i] > 0 ? largest : aside, value);
    }
    if (!(std::abs(norm - 1) <= about)) return fmt::format("psi of mode {} is not normalised", j + 1);
    if (!(aside <= 2 * largest / traits(model.precision).row_error))
      return fmt::format("psi of mode {} is too large on a row set aside", j + 1);
  }
  return {};
}

}  // namespace

std::string wrong_setting(const Model& model) {
  // P is a Markov matrix; the lowest precision promises 8e-3, and what has not converged is off by more.
  constexpr double largest = 1.1;
  if (model.kernel != "gaussian") return fmt::format("its kernel '{}' is not known", model.kernel);
  if (!(model.beta > 0) || !std::isfinite(model.beta)) return fmt::format("beta is {}", model.beta);
  if (!(model.alpha >= 0 && model.alpha <= 1)) return fmt::format("alpha is {}", model.alpha);
  if (model.n == 0 || model.dimension == 0) return "it holds no points";
  if (model.modes() > model.n) return fmt::format("{} of {}", counted(model.modes(), "mode"), counted(model.n, "point"));
  for (std::size_t j = 0; j < model.modes(); ++j) {
    if (!(std::abs(model.eigenvalues[j]) <= largest)) return fmt::format("eigenvalue {} is {}", j + 1, model.eigenvalues[j]);
    if (j > 0 && model.eigenvalues[j] > model.eigenvalues[j - 1]) return "the eigenvalues do not descend";
  }
  for (std::size_t j = 0; j < model.residuals.size(); ++j)
    if (!(model.residuals[j] >= 0)) return fmt::format("residual {} is {}", j + 1, model.residuals[j]);
  if (!finite(model.mean)) return "mean holds a value that is not finite";
  return {};
}

std::string wrong_shape(const Model& model) {
  if (model.residuals.size() != model.modes()) return "residuals and eigenvalues differ in number";
  if (model.q.size() != model.n) return "q has another length than n";
  if (model.d.size() != model.n) return "d has another length than n";
  if (!model.names.empty() && model.names.size() != model.n) return "names are not one a row";
  if (model.mean.size() != model.dimension) return "mean has another length than the dimension";
  if (model.psi.rows() != model.n || model.psi.columns() != model.modes()) return "psi is not n × modes";
  if (!model.points.empty() && (model.points.rows() != model.n || model.points.columns() != model.dimension))
    return "points are not n × dimension";
  return {};
}

std::string wrong_entry(const Model& model) {
  // K_ii = 1 and 0 <= K_ij <= 1, as exactly as the lowest precision promises: 1 <= q <= n, and with that d <= q.
  const double most = 1.1 * static_cast<double>(model.n);
  const auto is_mass = [&](double value) { return value >= 1 && value <= most; };
  const auto is_degree = [&](double value) { return value >= 0 && value <= most; };  // 0: left out of the fit
  if (!std::all_of(model.q.begin(), model.q.end(), is_mass)) return "q holds a value that is no mass";
  if (!std::all_of(model.d.begin(), model.d.end(), is_degree)) return "d holds a value that is no degree";
  if (std::none_of(model.d.begin(), model.d.end(), [](double value) { return value > 0; })) return "d is zero everywhere";
  if (!finite(model.psi)) return "psi holds a value that is not finite";
  if (!finite(model.points)) return "points hold a value that is not finite";
  return wrong_mode(model);
}

}  // namespace fd
