// The extension module: the library's public API, thinly. What users see is written in Python on top of it.
#include <nanobind/stl/string.h>

#include <flashdiffusion/version.hpp>

#include "bindings.hpp"

NB_MODULE(_native, module) {
  module.attr("version") = fd::version;
  module.def("build_description", &fd::build_description);
  fd::python::bind_errors(module);
  fd::python::bind_end(module);
  fd::python::bind_options(module);
  fd::python::bind_model(module);
  fd::python::bind_fit(module);
  fd::python::bind_operators(module);
  fd::python::bind_estimate(module);
  fd::python::bind_report(module);
}
