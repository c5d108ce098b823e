#include "fit/some_rows.hpp"

#include <algorithm>

namespace fd {

std::vector<std::string> SomeRows::row_names() const {
  const std::vector<std::string> all = source_.row_names();
  std::vector<std::string> names;
  names.reserve(rows_.size());
  for (const std::size_t row : rows_) names.push_back(all.empty() ? "row " + std::to_string(row + 1) : all[row]);
  return names;
}

void SomeRows::read(std::size_t first, std::size_t count, double* out) {
  const std::size_t width = dimension();
  const std::size_t near = std::max<std::size_t>(1, 512 / width);  // rows to a page of doubles: what a file reads anyway
  const std::size_t most = std::max<std::size_t>(64, (std::size_t{1} << 17) / width);
  const std::size_t* rows = rows_.data() + first;
  for (std::size_t i = 0; i < count;) {
    std::size_t last = i + 1;
    while (last < count && rows[last] - rows[last - 1] <= near && rows[last] - rows[i] < most) ++last;
    const std::size_t span = rows[last - 1] - rows[i] + 1;
    if (span == last - i) {  // no gap: straight to where they belong
      source_.read(rows[i], span, out + i * width);
      i = last;
      continue;
    }
    buffer_.resize(span * width);
    source_.read(rows[i], span, buffer_.data());
    for (const std::size_t from = rows[i]; i < last; ++i)
      std::copy_n(buffer_.data() + (rows[i] - from) * width, width, out + i * width);
  }
}

}  // namespace fd
