#include <array>
#include <string>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/precision.hpp>

namespace fd {
namespace {

constexpr std::array<PrecisionTraits, 4> table = {{
    {Precision::fp64, "fp64", 2.22e-16, 1e-13, true},
    {Precision::fp32, "fp32", 1e-7, 6e-6, false},
    {Precision::tf32, "tf32", 1e-3, 1e-3, false},
    {Precision::bf16, "bf16", 8e-3, 8e-3, false},
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
