#include "analysis/mode_count.hpp"

#include <cmath>
#include <limits>

namespace fd {

namespace {

// Time scales that fall by less than this stand out nowhere.
constexpr double clear_fall = 1.5;

}  // namespace

double time_scale(double eigenvalue, double uncertainty) {
  if (eigenvalue >= 1 - uncertainty) return std::numeric_limits<double>::infinity();
  return eigenvalue > 0 ? -1 / std::log(eigenvalue) : 0;
}

ModeCount modes_to_keep(const std::vector<double>& eigenvalues, double uncertainty) {
  ModeCount best{eigenvalues.size(), 1, false};
  for (std::size_t j = 0; j + 1 < eigenvalues.size(); ++j) {
    const double here = time_scale(eigenvalues[j], uncertainty), next = time_scale(eigenvalues[j + 1], uncertainty);
    if (!(next > 0)) break;  // the rest is the arithmetic's noise
    const double fall = std::isinf(here) && std::isinf(next) ? 1 : here / next;
    if (fall >= clear_fall && fall > best.fall) best = {j + 1, fall, true};
  }
  return best;
}

}  // namespace fd
