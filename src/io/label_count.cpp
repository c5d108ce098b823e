#include "io/label_count.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>
#include <utility>

#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr double exact_up_to = 9007199254740992;  // whole numbers in fp64

// Text around the digits of a cell, for each run of digits; the whole cell first.
struct Around {
  std::string_view before, after;
  bool plain = false;
};

std::vector<Around> around_digits(std::string_view cell) {
  std::vector<Around> all = {{{}, {}, true}};
  for (std::size_t end = cell.size(); end > 0;) {
    if (!digits_only(cell.substr(end - 1, 1))) {
      --end;
      continue;
    }
    std::size_t begin = end;
    while (begin > 0 && digits_only(cell.substr(begin - 1, 1))) --begin;
    all.push_back({cell.substr(0, begin), cell.substr(end), false});
    end = begin;
  }
  return all;
}

}  // namespace

std::optional<double> exact_number(std::string_view cell, bool decimal_commas) {
  const auto value = NumberReader(decimal_commas)(cell);
  return value && std::abs(*value) <= exact_up_to ? value : std::nullopt;
}

bool dense(std::vector<double> values, bool by_ones, std::size_t strays) {
  if (values.size() < 2) return false;
  std::sort(values.begin(), values.end());
  for (; strays > 0 && values.size() > 2; --strays)
    if (values[values.size() - 1] - values[1] < values[values.size() - 2] - values[0]) values.erase(values.begin());
    else values.pop_back();
  const double range = values.back() - values.front();
  const double count = static_cast<double>(values.size());
  double step = by_ones ? 1 : range;
  for (std::size_t i = 1; i < values.size() && !by_ones; ++i)
    if (values[i] > values[i - 1]) step = std::min(step, values[i] - values[i - 1]);
  return range <= step * (by_ones ? 2 * count + 2 : 4 * count) && std::all_of(values.begin(), values.end(), [&](double value) {
           const double steps = (value - values.front()) / step;
           return std::abs(steps - std::round(steps)) < 1e-3;  // times are rounded
         });
}

bool Count::ascending() const { return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end(); }

bool Count::whole() const {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == std::floor(value); });
}

std::optional<Count> count_in(const std::vector<std::string_view>& cells, bool decimal_commas) {
  if (cells.size() < 3) return std::nullopt;  // two numbers always follow each other
  const std::size_t few = cells.size() == 3 ? 0 : std::max<std::size_t>(1, cells.size() / 10);
  for (const auto& [before, after, plain] : around_digits(cells.back())) {
    Count count;
    for (const std::string_view cell : cells) {
      if (cell.size() <= before.size() + after.size() || !cell.starts_with(before) || !cell.ends_with(after)) continue;
      const std::string_view inside = cell.substr(before.size(), cell.size() - before.size() - after.size());
      if (const auto value = exact_number(inside, decimal_commas); value && (plain || digits_only(inside)))
        count.values.push_back(*value);
    }
    const std::size_t own = std::unordered_set<double>(count.values.begin(), count.values.end()).size();
    if (own + few < cells.size()) continue;
    count.all = own == cells.size() && count.values.size() == own;
    count.dense = fd::dense(count.values, false) || fd::dense(count.values, false, few);
    if (!count.whole() && (!count.all || cells.size() < 4))
      count.dense = false;  // of few fractions some are as far apart as others
    count.plain = plain;
    return count;
  }
  return std::nullopt;
}

}  // namespace fd
