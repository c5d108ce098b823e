// fit(): points in, model out.
#include <flashdiffusion/fit.hpp>

#include <optional>

#include <nanobind/stl/optional.h>

#include <flashdiffusion/checkpoint.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "python_comm.hpp"
#include "text.hpp"
#include "watcher.hpp"

namespace fd::python {

void bind_fit(nb::module_& module) {
  module.def(
      "fit",
      [](const Rows& points, const Options& options, nb::object progress, nb::object note,
         const std::optional<nb::bytes>& checkpoint, const nb::object& ranks) {
        const PointsView view = view_of(points);
        std::optional<CheckpointFile> file;
        if (checkpoint) file.emplace(path_of(*checkpoint));
        std::optional<PythonComm> comm;
        if (!ranks.is_none()) comm.emplace(ranks);
        return watched(std::move(progress), std::move(note), [&](Observer* observer) {
          Options watched_options = options;
          watched_options.observer = observer;
          watched_options.checkpoint = file ? &*file : nullptr;
          Model model = comm ? *fit(view, watched_options, *comm) : fit(view, watched_options);
          if (file) file->remove();
          return model;
        });
      },
      nb::arg("points").noconvert(), nb::arg("options"), nb::arg("progress") = nb::none(), nb::arg("note") = nb::none(),
      nb::arg("checkpoint") = nb::none(), nb::arg("ranks") = nb::none(),
      "The diffusion map of the rows of an array. progress(dict) and note(str) are called while it runs; checkpoint names a "
      "file; ranks are those of an MPI job, of which this is rank 0.");
  module.def(
      "serve_fit",
      [](const nb::object& ranks) {
        PythonComm comm(ranks);
        watched(nb::none(), nb::none(), [&](Observer*) { return fit(PointsView(), Options(), comm).has_value(); });
      },
      nb::arg("ranks"), "Any other rank's part in the fit of rank 0; raises what that ended with.");
}

}  // namespace fd::python
