// One function a topic; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace fd::python {

void bind_errors(nanobind::module_& module);
void bind_end(nanobind::module_& module);
void bind_options(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_fit(nanobind::module_& module);
void bind_operators(nanobind::module_& module);
void bind_estimate(nanobind::module_& module);
void bind_report(nanobind::module_& module);

}  // namespace fd::python
