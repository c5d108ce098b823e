// Angles in one of two units, and the doubt whether they are in the other: radians beyond a turn look like degrees, degrees that all lie
// within a turn of radians look like radians. A guess from the range alone; whoever asks decides what to do about it.
#pragma once

#include <optional>
#include <string>

#include <flashdiffusion/points.hpp>

namespace fd {

enum class AngleUnit { radians, degrees };

double period(AngleUnit unit);                                           // of a turn
const char* name(AngleUnit unit);                                        // "radians", "degrees"
std::optional<AngleUnit> angle_unit_from_name(const std::string& name);  // rad, radians, deg, degrees

// Empty, or what speaks against these angles being in `unit`. NaN has no say.
std::string doubt_of_unit(const Table& angles, AngleUnit unit);

}  // namespace fd
