#include "solver/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace fd {
namespace {

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  const std::size_t middle = x.size() / 2;
  return x.size() % 2 == 1 ? x[middle] : 0.5 * (x[middle - 1] + x[middle]);
}

}  // namespace

double ValueHistory::action(double value) const { return -std::log(std::clamp(value, floor_, 1.0)); }

void ValueHistory::push(const Eigen::VectorXd& values, std::size_t modes) {
  std::vector<double> actions;
  for (Eigen::Index j = 0; j < std::min<Eigen::Index>(values.size(), static_cast<Eigen::Index>(modes)); ++j)
    actions.push_back(action(values(j)));
  medians_.push_back(actions.size() == modes ? median(actions) : std::nan(""));
}

std::optional<std::vector<double>> ValueHistory::known(const Eigen::VectorXd& values, const std::vector<double>& residuals,
                                                       std::size_t modes, double latest, double tolerance, double ceiling) const {
  if (medians_.empty() || !std::isfinite(medians_.back())) return {};
  const double found = medians_.back();
  const Eigen::Index unwanted = static_cast<Eigen::Index>(modes) + 2;
  const double below = std::min(latest, values.size() > unwanted ? values(unwanted) : latest);
  std::vector<double> ritz, corrected, actions;
  for (std::size_t j = 0; j < modes; ++j) {
    const double theta = values(static_cast<Eigen::Index>(j)), gap = std::max(theta - below, 1e-300);
    ritz.push_back(theta);
    const double room = theta < ceiling ? 0.5 * (ceiling - theta) : 0;
    corrected.push_back(theta + std::min({residuals[j], residuals[j] * residuals[j] / gap, room}));
    actions.push_back(action(corrected.back()));
  }
  if (found - median(actions) <= tolerance / 1.5 * found) return corrected;
  // by the decay of steps
  const std::size_t n = medians_.size();
  if (n < 3 || !std::isfinite(medians_[n - 3])) return {};
  const double last = std::abs(medians_[n - 1] - medians_[n - 2]), before = std::abs(medians_[n - 2] - medians_[n - 3]);
  if (before == 0) return ritz;
  const double ratio = std::min(last / before, 0.9);
  if (2 * last * ratio / (1 - ratio) <= tolerance * found && last <= 4 * tolerance * found) return ritz;
  return {};
}

std::size_t witness_passes(const Eigen::VectorXd& values, std::size_t modes, double n, std::size_t most) {
  if (values.size() <= static_cast<Eigen::Index>(modes) || modes == 0) return 1;
  const double wanted = values(static_cast<Eigen::Index>(modes) - 1);
  const double bulk = std::max(values(values.size() / 2), 1e-300);
  const double growth = std::acosh(1 + 2 * std::max(wanted / bulk - 1, 1e-3));
  return std::min<std::size_t>(most, 1 + static_cast<std::size_t>(std::ceil(std::acosh(std::sqrt(n)) / growth)));
}

std::size_t largest_cluster(const Eigen::VectorXd& values, double close) {
  std::size_t best = values.size() > 0 ? 1 : 0;
  for (Eigen::Index first = 0, last = 0; last < values.size(); ++last) {
    while (values(first) - values(last) > close) ++first;
    best = std::max(best, static_cast<std::size_t>(last - first + 1));
  }
  return best;
}

}  // namespace fd
