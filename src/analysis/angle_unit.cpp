#include "analysis/angle_unit.hpp"

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

std::string doubt_of_unit(const Table& angles, AngleUnit unit) {
  double largest = 0;
  for (std::size_t i = 0; i < angles.rows(); ++i)
    for (std::size_t j = 0; j < angles.columns(); ++j)
      if (std::abs(angles(i, j)) > largest) largest = std::abs(angles(i, j));
  const double turn = period(AngleUnit::radians) * (1 + 1e-3);  // what was rounded to a few digits is still a turn
  char text[160] = "";
  if (unit == AngleUnit::radians && largest > turn)
    std::snprintf(text, sizeof text, "angles of up to %.4g are more than a turn in radians (6.283): they look like degrees",
                  largest);
  if (unit == AngleUnit::degrees && largest <= turn)
    std::snprintf(text, sizeof text, "no angle is larger than %.4g, a turn in radians is 6.283: they look like radians", largest);
  return text;
}

}  // namespace fd
