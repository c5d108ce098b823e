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
  const std::vector<double> ones(rows.size(), 1.0);
  std::vector<double> rest(all.rows(), 1.0);
  for (const std::size_t row : rows) rest[row] = 0;

  // A member sees half of the others of a smallest group, and a tenth of that of the rest.
  const double enough = 0.5 * static_cast<double>(least - 1), little = 0.1;
  std::vector<char> member(rows.size(), 0);
  constexpr double step = 2;
  constexpr int most_steps = 24;
  for (int s = 0; s < most_steps && beta >= coarsest; ++s, beta /= step) {
    const std::vector<double> own = kernel_sums(backend, beta, *points, *points, ones, watch),
                              others = kernel_sums(backend, beta, *points, all, rest, watch);
    std::vector<std::size_t> found;
    bool all_see_the_rest = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (own[i] >= enough && others[i] <= little * own[i]) found.push_back(i);
      all_see_the_rest = all_see_the_rest && others[i] > own[i];
    }
    if (found.size() >= least)
      for (const std::size_t i : found) member[i] = 1;
    if (all_see_the_rest) break;
  }
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (member[i] != 0) members.push_back(rows[i]);
  return members;
}

}  // namespace fd
