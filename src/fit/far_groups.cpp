#include "fit/far_groups.hpp"

#include <algorithm>

#include "fit/kernel_sums.hpp"
#include "fit/some_rows.hpp"

namespace fd {
std::vector<std::size_t> far_groups(Backend& backend, const Points& all, PointSource& centred,
                                    const std::vector<std::size_t>& rows, double beta, double coarsest, std::size_t least,
                                    Watch* watch) {
  if (rows.size() < least) return {};
  SomeRows some(centred, rows);
  const auto points = backend.load(some, all.precision());
  std::vector<double> rest(all.rows(), 1.0);
  for (const std::size_t row : rows) rest[row] = 0;

  // A member sees half of the others of a smallest group, and a tenth of that of the rest.
  const double enough = 0.5 * static_cast<double>(least - 1), little = 0.1;
  // A row joins a group that was found at most two steps earlier, at half the distance: one that only sees it from farther away is a stray beside it.
  constexpr double step = 2;
  constexpr int most_steps = 24, joins_for = 2, never = -1;
  std::vector<int> member(rows.size(), never);  // since which step
  std::vector<double> near(rows.size(), 1.0);
  for (int s = 0; s < most_steps && beta >= coarsest; ++s, beta /= step) {
    for (std::size_t i = 0; i < rows.size(); ++i) near[i] = member[i] == never || s - member[i] <= joins_for ? 1 : 0;
    const std::vector<double> own = kernel_sums(backend, beta, *points, *points, near, watch),
                              others = kernel_sums(backend, beta, *points, all, rest, watch);
    std::vector<std::size_t> found;
    bool all_see_the_rest = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (own[i] >= enough && others[i] <= little * own[i]) found.push_back(i);
      all_see_the_rest = all_see_the_rest && others[i] > own[i];
    }
    if (found.size() >= least)
      for (const std::size_t i : found)
        if (member[i] == never) member[i] = s;
    if (all_see_the_rest) break;
  }
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (member[i] != never) members.push_back(rows[i]);
  return members;
}

}  // namespace fd
