#include "analysis/angle_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace fd {

double period(AngleUnit unit) { return unit == AngleUnit::degrees ? 360 : 2 * std::numbers::pi; }

const char* name(AngleUnit unit) { return unit == AngleUnit::degrees ? "degrees" : "radians"; }

std::optional<AngleUnit> angle_unit_from_name(const std::string& name) {
  if (name == "rad" || name == "radians") return AngleUnit::radians;
  if (name == "deg" || name == "degrees") return AngleUnit::degrees;
  return std::nullopt;
}

UnitDoubt doubt_of_unit(const Table& angles, AngleUnit unit) {
  const double turn = period(AngleUnit::radians) * (1 + 1e-3);  // what was rounded to a few digits is still a turn
  double largest = 0;
  std::size_t known = 0, beyond = 0;
  UnitDoubt doubt;
  for (std::size_t i = 0; i < angles.rows(); ++i)
    for (std::size_t j = 0; j < angles.columns(); ++j) {
      const double size = std::abs(angles(i, j));
      if (std::isnan(size)) continue;
      ++known;
      largest = std::max(largest, size);
      if (size > turn && beyond++ == 0) doubt.row = i;
    }
  char text[200] = "";
  if (unit == AngleUnit::radians && beyond > 0) {
    doubt.other_unit = 2 * beyond >= known;
    if (doubt.other_unit)
      std::snprintf(text, sizeof text, "angles of up to %.4g are more than a turn in radians (6.283): they look like degrees",
                    largest);
    else
      std::snprintf(text, sizeof text,
                    "%zu of %zu angles, up to %.4g, %s more than a turn in radians (6.283), the others are not", beyond, known,
                    largest, beyond == 1 ? "is" : "are");
  }
  if (unit == AngleUnit::degrees && beyond == 0)
    std::snprintf(text, sizeof text, "no angle is larger than %.4g, a turn in radians is 6.283: they look like radians", largest);
  else if (unit == AngleUnit::degrees && 100 * beyond <= known)
    std::snprintf(text, sizeof text, "all but %zu of %zu angles lie within 6.283, a turn in radians: they look like radians",
                  beyond, known);
  doubt.what = text;
  return doubt;
}

}  // namespace fd
