// Angles in one of two units, and the doubt whether they are in the other: radians of which half or more lie beyond a turn look like degrees, degrees
// of which all, or all but one in a hundred, lie within a turn of radians look like radians. A few radians beyond a turn are stray. A guess from the
// range alone; whoever asks decides what to do about it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <flashdiffusion/points.hpp>

namespace fd {

enum class AngleUnit { radians, degrees };

double period(AngleUnit unit);                                           // of a turn
const char* name(AngleUnit unit);                                        // "radians", "degrees"
std::optional<AngleUnit> angle_unit_from_name(const std::string& name);  // rad, radians, deg, degrees

// What speaks against these angles being in a unit.
struct UnitDoubt {
  std::string what;        // empty: nothing does
  bool other_unit = true;  // the other unit would explain it; false: a few angles are unlike the rest
  std::size_t row = 0;     // of the first of those
};

// NaN has no say.
UnitDoubt doubt_of_unit(const Table& angles, AngleUnit unit);

}  // namespace fd
