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
  if (unit == AngleUnit::degrees && known > 0 && beyond == 0)
    std::snprintf(text, sizeof text, "no angle is larger than %.4g, a turn in radians is 6.283: they look like radians", largest);
  else if (unit == AngleUnit::degrees && 100 * beyond <= known && known > 0)
    std::snprintf(text, sizeof text, "all but %zu of %zu angles lie within 6.283, a turn in radians: they look like radians",
                  beyond, known);
  doubt.what = text;
  return doubt;
}

}  // namespace

UnitDoubt doubt_of_unit(const Table& angles, AngleUnit unit, const std::vector<std::size_t>& part) {
  const std::size_t parts = part.empty() ? 1 : *std::max_element(part.begin(), part.end()) + 1;
  Range all;
  std::vector<Range> ranges((1 + parts) * angles.columns());  // part by part, then of whole columns
  for (std::size_t i = 0; i < angles.rows(); ++i)
    for (std::size_t j = 0; j < angles.columns(); ++j) {
      all.add(angles(i, j), i);
      ranges[parts * angles.columns() + j].add(angles(i, j), i);
      ranges[(part.empty() ? 0 : part[i]) * angles.columns() + j].add(angles(i, j), i);
    }
  std::size_t judged = 0, others = 0;
  UnitDoubt first;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    if (ranges[r].known < (r < parts * angles.columns() ? fewest_of_part : 1)) continue;
    ++judged;
    UnitDoubt doubt = doubt_of(ranges[r], unit);
    if (doubt.what.empty()) continue;
    others += doubt.other_unit ? 1 : 0;
    // that a unit is another says more than that an angle is stray
    if (!first.what.empty() && (first.other_unit || !doubt.other_unit)) continue;
    first = std::move(doubt);
    first.column = r % angles.columns();
    first.everywhere = false;
  }
  return judged == others ? doubt_of(all, unit) : first;
}

}  // namespace fd
