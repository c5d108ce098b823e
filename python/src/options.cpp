// fd::Options: what a fit can be told, field by field. Names become enumerators here; unknown ones are refused with a list.
#include <flashdiffusion/options.hpp>

#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <flashdiffusion/error.hpp>

#include "bindings.hpp"

namespace fd::python {
namespace {

constexpr std::pair<const char*, Select> selectors[] = {
    {"robust", Select::robust}, {"minimum", Select::minimum}, {"paper", Select::paper}, {"continuation", Select::continuation}};

std::string select_name(const Options& options) {
  for (const auto& [name, rule] : selectors)
    if (rule == options.select) return name;
  return {};
}

void set_select(Options& options, const std::string& wanted) {
  std::string known;
  for (const auto& [name, rule] : selectors) {
    if (wanted == name) {
      options.select = rule;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(Failure::misuse, "select = '" + wanted + "' is not known", "use one of " + known);
}

std::vector<std::string> precision_names(const Options& options) {
  std::vector<std::string> names;
  for (const Precision precision : options.precision) names.emplace_back(traits(precision).name);
  return names;
}

void set_precision(Options& options, const std::vector<std::string>& names) {
  options.precision.clear();
  for (const std::string& name : names) options.precision.push_back(precision_from_name(name));
}

}  // namespace

void bind_options(nanobind::module_& module) {
  nanobind::class_<Options>(module, "Options")
      .def(nanobind::init<>())
      .def_rw("modes", &Options::modes)
      .def_rw("alpha", &Options::alpha)
      .def_rw("beta", &Options::beta, nanobind::arg().none())
      .def_prop_rw("select", &select_name, &set_select)
      .def_rw("ladder", &Options::ladder)
      .def_prop_rw("precision", &precision_names, &set_precision)
      .def_rw("backend", &Options::backend)
      .def_rw("threads", &Options::threads)
      .def_rw("tolerance", &Options::tolerance)
      .def_rw("max_passes", &Options::max_passes)
      .def_rw("memory_bytes", &Options::memory_bytes, nanobind::arg().none())
      .def_rw("basis", &Options::basis)
      .def_rw("beta0", &Options::beta0, nanobind::arg().none())
      .def_rw("beta_max", &Options::beta_max, nanobind::arg().none())
      .def_rw("components", &Options::components, nanobind::arg().none())
      .def_rw("trim", &Options::trim, nanobind::arg().none())
      .def_rw("drop_localised", &Options::drop_localised)
      .def_rw("seed", &Options::seed)
      .def_rw("keep_points", &Options::keep_points);
}

}  // namespace fd::python
