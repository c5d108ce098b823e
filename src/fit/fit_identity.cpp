#include "fit/fit_identity.hpp"

#include <fmt/format.h>

#include <flashdiffusion/version.hpp>

namespace fd {
namespace {

template <class T>
std::string or_none(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

std::string name(Select select) {
  switch (select) {
    case Select::robust: return "robust";
    case Select::minimum: return "minimum";
    case Select::paper: return "paper";
    case Select::continuation: return "continuation";
  }
  return "";
}

}  // namespace

Journal::Identity fit_identity(const Options& o, const std::string& isa, std::size_t rows, std::size_t dimension,
                               std::uint64_t points_checksum) {
  std::string precisions;
  for (const Precision precision : o.precision)
    precisions += (precisions.empty() ? "" : ",") + std::string(traits(precision).name);
  return {{"version", fmt::format("{} ({})", version, commit())},
          {"rows", fmt::format("{}", rows)},
          {"columns", fmt::format("{}", dimension)},
          {"points' checksum", fmt::format("{:016x}", points_checksum)},
          {"modes", fmt::format("{}", o.modes)},
          {"alpha", fmt::format("{}", o.alpha)},
          {"beta", or_none(o.beta)},
          {"select", name(o.select)},
          {"ladder", o.ladder ? "on" : "off"},
          {"precision", precisions},
          {"backend", o.backend},
          {"instruction set", isa},
          {"block", fmt::format("{}", o.block)},
          {"basis", fmt::format("{}", o.basis)},
          {"tolerance", fmt::format("{}", o.tolerance)},
          {"max_passes", fmt::format("{}", o.max_passes)},
          {"beta0", or_none(o.beta0)},
          {"beta0_cap", or_none(o.beta0_cap)},
          {"beta_max", or_none(o.beta_max)},
          {"components", or_none(o.components)},
          {"trim", o.trim ? fmt::format("{}", *o.trim) : "auto"},
          {"drop_localised", o.drop_localised ? "on" : "off"},
          {"seed", fmt::format("{}", o.seed)}};
}

}  // namespace fd
