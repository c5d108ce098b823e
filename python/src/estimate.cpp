// What a fit will take, before it is run.
#include <flashdiffusion/estimate.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "watcher.hpp"

namespace fd::python {

void bind_estimate(nb::module_& module) {
  nb::class_<Forecast>(module, "Forecast")
      .def_ro("seconds", &Forecast::seconds)
      .def_ro("memory_bytes", &Forecast::memory_bytes)
      .def_ro("passes", &Forecast::passes)
      .def_ro("full_passes", &Forecast::full_passes)
      .def_ro("columns", &Forecast::columns)
      .def_ro("pairs_per_second", &Forecast::pairs_per_second);
  module.def(
      "estimate",
      [](const Rows& points, const Options& options) {
        ViewSource source(view_of(points));
        return watched(nb::none(), nb::none(), [&](Observer* observer) {
          Options watched_options = options;
          watched_options.observer = observer;
          return estimate(source, watched_options);
        });
      },
      nb::arg("points").noconvert(), nb::arg("options"));
  module.def(
      "estimate_shape",
      [](std::size_t rows, std::size_t dimension, const Options& options) {
        return watched(nb::none(), nb::none(), [&](Observer* observer) {
          Options watched_options = options;
          watched_options.observer = observer;
          return estimate(rows, dimension, watched_options);
        });
      },
      nb::arg("rows"), nb::arg("dimension"), nb::arg("options"));
}

}  // namespace fd::python
