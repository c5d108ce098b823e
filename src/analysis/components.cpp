#include "analysis/components.hpp"

#include <algorithm>

#include "analysis/mode_support.hpp"

namespace fd {

std::size_t next_to_one(const std::vector<double>& eigenvalues) {
  std::size_t near = 0;
  for (std::size_t j = 0; j < eigenvalues.size() && eigenvalues[j] > 0.99; ++j) {
    const bool leads = j + 1 < eigenvalues.size() && 1 - eigenvalues[j] < 0.01 * (1 - eigenvalues[j + 1]);
    if (eigenvalues[j] > 1 - 1e-4 || leads) near = j + 1;
  }
  return near;
}

std::size_t far_groups_in(const std::vector<double>& eigenvalues, const std::vector<double>& support) {
  constexpr double clearly_below = 0.99;
  const std::size_t near = next_to_one(eigenvalues);
  if (near == eigenvalues.size() || !(eigenvalues[near] <= clearly_below)) return 0;
  const auto end = support.begin() + static_cast<std::ptrdiff_t>(std::min(near, support.size()));
  return static_cast<std::size_t>(std::count_if(support.begin(), end, [](double rows) { return rows >= localised_rows; }));
}

}  // namespace fd
