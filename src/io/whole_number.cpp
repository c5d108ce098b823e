#include "io/whole_number.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "io/text_number.hpp"

namespace fd {
namespace {

constexpr double two_to_64 = 18446744073709551616.0;
constexpr double gaps_from = 9007199254740992.0;  // 2^53

// Modulo 2^64, as rounding may lead to 2^64 itself.
std::uint64_t bits_of(double whole) {
  if (whole < 0) return ~bits_of(-whole) + 1;
  return whole < two_to_64 ? static_cast<std::uint64_t>(whole) : 0;
}

}  // namespace

double rounding_of(std::uint64_t x) {
  return static_cast<double>(static_cast<std::int64_t>(x - bits_of(static_cast<double>(x))));
}
double rounding_of(std::int64_t x) {
  return static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(x) - bits_of(static_cast<double>(x))));
}

std::string number_text(double value, double rounding) {
  if (!(std::abs(value) <= two_to_64 && value == std::floor(value))) return fmt::format("{}", value);
  if (rounding == 0) return fmt::format("{:.0f}", value + 0.0);  // no "-0"
  const bool negative = value < 0;
  return (negative ? "-" : "") + std::to_string(bits_of(std::abs(value)) + bits_of(negative ? -rounding : rounding));
}

bool rounded(std::string_view cell, double value) {
  if (!(std::abs(value) >= gaps_from) || !std::isfinite(value)) return false;
  if (cell[0] == '+' || cell[0] == '-') cell.remove_prefix(1);
  const std::size_t mark = cell.find_first_of(".,");
  if (mark != std::string_view::npos && cell.find_first_not_of('0', mark + 1) != std::string_view::npos) return false;
  const std::string_view digits = cell.substr(0, mark);
  if (!digits_only(digits)) return false;  // with an exponent: what a double was written as
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size())) != fmt::format("{:.0f}", std::abs(value));
}

}  // namespace fd
