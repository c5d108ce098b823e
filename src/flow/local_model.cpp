#include "flow/local_model.hpp"

#include <algorithm>
#include <cmath>

namespace fd::flow {

LocalModel::LocalModel(std::vector<const Mark*> nodes, const PotentialRules& rules) {
  std::sort(nodes.begin(), nodes.end(), [](const Mark* a, const Mark* b) { return a->x < b->x; });
  const auto safe_log = [](double value) { return std::log(std::max(value, 1e-300)); };
  for (const Mark* node : nodes) {
    x_.push_back(node->x);
    logs_.push_back({safe_log(node->probe->v_bias), safe_log(node->probe->v_stat), safe_log(node->probe->v_mach)});
  }
  const double d = nodes.front()->probe->d_hat;
  slopes_ = {-1, 0.5 + (d > 0 ? std::min(d, 100.0) : 0) / 4, rules.exponent};
}

double LocalModel::polynomial(std::size_t term, double x) const {
  if (x_.size() == 1) return logs_[0][term] + slopes_[term] * (x - x_[0]);
  double sum = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    double weight = 1;
    for (std::size_t j = 0; j < x_.size(); ++j)
      if (j != i) weight *= (x - x_[j]) / (x_[i] - x_[j]);
    sum += weight * logs_[i][term];
  }
  return sum;
}

double LocalModel::log_term(std::size_t term, double x) const {
  const double inside = std::clamp(x, x_.front(), x_.back());
  if (x_.size() == 1 || inside == x) return polynomial(term, x);
  const double h = 1e-4 * (x_.back() - x_.front());
  const double slope = (polynomial(term, inside + h) - polynomial(term, inside - h)) / (2 * h);
  return polynomial(term, inside) + slope * (x - inside);
}

LocalModel::Terms LocalModel::terms(double x) const {
  return {std::exp(log_term(0, x)), std::exp(log_term(1, x)), std::exp(log_term(2, x))};
}

double LocalModel::log_v(double x) const {
  const Terms t = terms(x);
  return std::log(t.bias + t.stat + t.mach);
}

// Two scans, the second inside the best cell of the first: the model costs nothing and need not have one minimum.
double LocalModel::minimiser(double low, double high) const {
  constexpr int cells = 128;
  double best = low;
  for (int scan = 0; scan < 2; ++scan) {
    const double width = (high - low) / cells, from = low;
    double least = log_v(best);
    for (int i = 0; i <= cells; ++i) {
      const double x = from + i * width;
      if (log_v(x) < least) least = log_v(x), best = x;
    }
    low = std::max(from, best - width);
    high = std::min(from + cells * width, best + width);
  }
  return best;
}

double LocalModel::wall_after(double x, double limit) const {
  constexpr int cells = 512;
  for (int i = 1; i <= cells; ++i) {
    const double at = x + (limit - x) * i / cells;
    if (log_term(2, at) >= 0) return at;  // (kappa eta / gap)^p = 1
  }
  return limit;
}

bool LocalModel::barrier_rises(double from, double to) const {
  const Terms below = terms(from), above = terms(to);
  return above.mach - below.mach > above.stat - below.stat;
}

}  // namespace fd::flow
