#include "analysis/angle_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

namespace fd {

double period(AngleUnit unit) { return unit == AngleUnit::degrees ? 360 : 2 * std::numbers::pi; }

const char* name(AngleUnit unit) { return unit == AngleUnit::degrees ? "degrees" : "radians"; }

std::optional<AngleUnit> angle_unit_from_name(const std::string& name) {
  if (name == "rad" || name == "radians") return AngleUnit::radians;
  if (name == "deg" || name == "degrees") return AngleUnit::degrees;
  return std::nullopt;
}

namespace {

constexpr std::size_t fewest_of_part = 20;

// The angles of a column, or of a part of its rows.
struct Range {
  std::size_t known = 0, beyond = 0, first_row = 0, first_beyond = 0;
  double largest = 0;

  void add(double angle, std::size_t row) {
    constexpr double turn = 2 * std::numbers::pi * (1 + 1e-3);  // what was rounded to a few digits is still a turn
    const double size = std::abs(angle);
    if (std::isnan(size)) return;
    if (known++ == 0) first_row = row;
    largest = std::max(largest, size);
    if (size > turn && beyond++ == 0) first_beyond = row;
  }
};

UnitDoubt doubt_of(const Range& range, AngleUnit unit) {
  UnitDoubt doubt;
  char text[200] = "";
  const auto [known, beyond, first_row, first_beyond, largest] = range;
  doubt.row = first_row;
  if (unit == AngleUnit::radians && beyond > 0) {
    doubt.other_unit = 2 * beyond >= known;
    if (doubt.other_unit) {
      std::snprintf(text, sizeof text, "angles of up to %.4g are more than a turn in radians (6.283): they look like degrees",
                    largest);
    } else {
      doubt.row = first_beyond;
      std::snprintf(text, sizeof text,
                    "%zu of %zu angles, up to %.4g, %s more than a turn in radians (6.283), the others are not", beyond, known,
                    largest, beyond == 1 ? "is" : "are");
    }
  }
  if (unit == AngleUnit::degrees && largest > 0 && beyond == 0)
    std::snprintf(text, sizeof text, "no angle is larger than %.4g, a turn in radians is 6.283: they look like radians", largest);
  else if (unit == AngleUnit::degrees && largest > 0 && 100 * beyond <= known)
    std::snprintf(text, sizeof text, "all but %zu of %zu angles lie within 6.283, a turn in radians: they look like radians",
                  beyond, known);
  doubt.what = text;
  return doubt;
}

// How probable it is that all degrees of a part lie within a turn of radians by chance, where as many of the other parts' do as do: by the rule of
// succession, (w + 1) / (k + 2) for the next after w of k, which claims little where others are few. `part`, `all`: a range a column.
double by_chance(const Range* part, const Range* all, std::size_t columns) {
  double chance = 1;
  for (std::size_t j = 0; j < columns; ++j) {
    if (part[j].beyond > 0) return 1;
    const auto others = static_cast<double>(all[j].known - part[j].known), within = others - static_cast<double>(all[j].beyond);
    if (all[j].beyond == 0) continue;
    for (std::size_t i = 0; i < part[j].known && chance > 0; ++i)
      chance *= (within + 1 + static_cast<double>(i)) / (others + 2 + static_cast<double>(i));
  }
  return chance;
}

}  // namespace

UnitDoubt doubt_of_unit(const Table& angles, AngleUnit unit, const std::vector<std::size_t>& part) {
  constexpr double improbable = 1e-6;
  const std::size_t columns = angles.columns(), parts = part.empty() ? 1 : *std::max_element(part.begin(), part.end()) + 1;
  std::vector<std::size_t> rows_of(parts);
  for (std::size_t i = 0; i < angles.rows(); ++i) ++rows_of[part.empty() ? 0 : part[i]];
  Range all;
  std::vector<Range> ranges((parts + 2) * columns);  // part by part, then of all short parts, and of whole columns
  for (std::size_t i = 0; i < angles.rows(); ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t p = part.empty() ? 0 : part[i];
      all.add(angles(i, j), i);
      ranges[p * columns + j].add(angles(i, j), i);
      if (rows_of[p] < fewest_of_part) ranges[parts * columns + j].add(angles(i, j), i);
      ranges[(parts + 1) * columns + j].add(angles(i, j), i);
    }
  std::vector<bool> odd(parts + 2);
  for (std::size_t p = 0; p < parts && unit == AngleUnit::degrees; ++p)
    odd[p] = by_chance(&ranges[p * columns], &ranges[(parts + 1) * columns], columns) * static_cast<double>(parts) < improbable;
  std::size_t judged = 0, others = 0;
  UnitDoubt first;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const std::size_t p = r / columns;
    if (ranges[r].largest == 0 || (ranges[r].known < (p <= parts ? fewest_of_part : 1) && !odd[p])) continue;
    ++judged;
    UnitDoubt doubt = doubt_of(ranges[r], unit);
    if (doubt.what.empty()) continue;
    others += doubt.other_unit ? 1 : 0;
    // that a unit is another says more than that an angle is stray
    if (!first.what.empty() && (first.other_unit || !doubt.other_unit)) continue;
    first = std::move(doubt);
    first.column = r % columns;
    first.everywhere = false;
  }
  return judged == others ? doubt_of(all, unit) : first;
}

}  // namespace fd
