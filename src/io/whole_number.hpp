// Whole numbers of up to 64 bits beside the doubles they become. Beyond 2^53 most are rounded; what that takes from one is itself a double, so the two
// together are the number again. Knows no files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fd {

// x - double(x)
double rounding_of(std::int64_t x);
double rounding_of(std::uint64_t x);

// The digits of a whole number that became `value` and lost `rounding`; of any other value as it is written shortest.
std::string number_text(double value, double rounding = 0);

// Whether the cell, read as `value`, writes a whole number that is another one than `value`.
bool rounded(std::string_view cell, double value);

}  // namespace fd
