#include "bench/sampled_rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/pieces.hpp"
#include "base/random.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {

std::unique_ptr<PointSource> open_interruptible(const std::string& name, const ReadOptions& options) {
  LeaveAtOnce blocking;
  return interruptible(open_points({name}, options));
}

std::vector<std::size_t> random_rows(std::size_t rows, std::size_t most) {
  std::vector<std::size_t> chosen(rows);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (most == 0 || most >= rows) return chosen;
  const Random random(1, 0);
  for (std::size_t i = 0; i < most; ++i)  // Fisher and Yates, as far as needed
    std::swap(chosen[i], chosen[i + static_cast<std::size_t>(random.uniform(i) * static_cast<double>(rows - i))]);
  chosen.resize(most);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Table read_rows(PointSource& source, const std::vector<std::size_t>& rows, bool wide) {
  const std::size_t dimension = source.dimension();
  Table table(rows.size(), dimension, wide);
  std::size_t next = 0;
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* piece) {
    for (; next < rows.size() && rows[next] < first + count; ++next)
      for (std::size_t c = 0; c < dimension; ++c) table.set(next, c, piece[(rows[next] - first) * dimension + c]);
  });
  return table;
}

}  // namespace fd::cli
