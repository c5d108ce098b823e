// Angles in one of two units, and the doubt whether they are in the other: radians of which half or more lie beyond a turn look like degrees, degrees
// of which all, or all but one in a hundred, lie within a turn of radians look like radians. A few radians beyond a turn are stray. Columns, and
// parts of the rows that come from different places, may be in different units: each is judged by itself. Some of many parts of a handful may lie
// near zero by chance: these are judged together, and one of them where its angles are improbable after what the other parts have. Zero is zero in
// either unit. A guess from the range alone; whoever asks decides what to do about it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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
  bool everywhere = true;  // it is so in every column and part; false: in this one, the first of which it is said
  std::size_t row = 0;     // the first of the part; of stray angles, the row of the first
  std::size_t column = 0;
};

// part: the number of the part that each row belongs to; empty: there is one. NaN has no say.
UnitDoubt doubt_of_unit(const Table& angles, AngleUnit unit, const std::vector<std::size_t>& part = {});

}  // namespace fd
