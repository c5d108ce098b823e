#include <array>
#include <string>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/precision.hpp>

namespace fd {
namespace {

// Where rows lie far apart a coordinate is a sum of two numbers, of 53 and 24 bits or of 24 each and a sign: it is off by 2^-78 or 2^-50 of itself at
// most, and an entry by a few times that. An eighth of the promise is for it.
constexpr double farthest(double row_error, bool wide) { return row_error / 8 * (wide ? 0x1p77 : 0x1p49); }

constexpr std::array<PrecisionTraits, 4> table = {{
    {Precision::fp64, "fp64", 2.22e-16, 1e-13, farthest(1e-13, true), true},
    {Precision::fp32, "fp32", 1e-7, 6e-6, farthest(6e-6, false), false},
    {Precision::tf32, "tf32", 1e-3, 1e-3, farthest(1e-3, false), false},
    {Precision::bf16, "bf16", 8e-3, 8e-3, farthest(8e-3, false), false},
}};

}  // namespace

const PrecisionTraits& traits(Precision precision) {
  for (const auto& row : table)
    if (row.precision == precision) return row;
  throw Error(Failure::misuse, "unknown precision");
}

Precision precision_from_name(std::string_view name) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == name) return row.precision;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(Failure::misuse, "unknown precision '" + std::string(name) + "'", "use one of " + known);
}

}  // namespace fd
