// fit(): points in, model out.
#include <flashdiffusion/fit.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "watcher.hpp"

namespace fd::python {

void bind_fit(nb::module_& module) {
  module.def(
      "fit",
      [](const Rows& points, const Options& options, nb::object progress, nb::object note) {
        const PointsView view = view_of(points);
        return watched(std::move(progress), std::move(note), [&](Observer* observer) {
          Options watched_options = options;
          watched_options.observer = observer;
          return fit(view, watched_options);
        });
      },
      nb::arg("points").noconvert(), nb::arg("options"), nb::arg("progress") = nb::none(), nb::arg("note") = nb::none(),
      "The diffusion map of the rows of an array. progress(dict) and note(str) are called while it runs.");
}

}  // namespace fd::python
