// fd::Model: its fields as numbers and arrays (views of the model's own memory), the extension to new points, the model file.
#include <flashdiffusion/model.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "text.hpp"
#include "watcher.hpp"

namespace fd::python {
namespace {

using Self = nb::handle_t<Model>;

const Model& model_of(Self self) { return nb::cast<const Model&>(self); }

template <class Field>
auto array_property(Field Model::*field) {
  return [field](Self self) { return array_of(model_of(self).*field, self); };
}

// A column a name, as in the model file's /sweep.
nb::dict sweep(const Model& model) {
  nb::dict columns;
  const auto column = [&](const char* name, auto&& value) {
    nb::list values;
    for (const Probe& probe : model.sweep) values.append(value(probe));
    columns[name] = values;
  };
  column("n", [](const Probe& p) { return p.n; });
  column("precision", [](const Probe& p) { return std::string(traits(p.precision).name); });
  column("beta", [](const Probe& p) { return p.beta; });
  column("s_off", [](const Probe& p) { return p.s_off; });
  column("s_off_2beta", [](const Probe& p) { return p.s_off_2beta; });
  column("n_eff", [](const Probe& p) { return p.n_eff; });
  column("d_hat", [](const Probe& p) { return p.d_hat; });
  column("perron_gap", [](const Probe& p) { return p.perron_gap; });
  column("v_bias", [](const Probe& p) { return p.v_bias; });
  column("v_stat", [](const Probe& p) { return p.v_stat; });
  column("v_mach", [](const Probe& p) { return p.v_mach; });
  column("v", [](const Probe& p) { return p.v; });
  column("localised", [](const Probe& p) { return p.localised; });
  column("aside", [](const Probe& p) { return p.aside; });
  column("passes", [](const Probe& p) { return p.passes; });
  column("seconds", [](const Probe& p) { return p.seconds; });
  column("outcome", [](const Probe& p) { return p.outcome; });
  return columns;
}

// Coordinates, and the rows beyond the kernel's reach (counted from 0).
nb::tuple transform(const Model& model, const Rows& points, double time, const Options& options, nb::object progress,
                    nb::object note) {
  ViewSource source(view_of(points));
  std::vector<std::size_t> beyond_reach;
  Table made = watched(std::move(progress), std::move(note), [&](Observer* observer) {
    Options watched_options = options;
    watched_options.observer = observer;
    watched_options.precision = {model.precision};
    return model.transform(source, time, watched_options, &beyond_reach);
  });
  return nb::make_tuple(array_from(std::move(made)), beyond_reach);
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_ro("kernel", &Model::kernel)
      .def_ro("beta", &Model::beta)
      .def_ro("alpha", &Model::alpha)
      .def_ro("n", &Model::n)
      .def_ro("dimension", &Model::dimension)
      .def_prop_ro("precision", [](const Model& model) { return std::string(traits(model.precision).name); })
      .def_ro("converged", &Model::converged)
      .def_ro("outcome", &Model::outcome)
      .def_ro("perron", &Model::perron)
      .def_ro("perron_residual", &Model::perron_residual)
      .def_ro("beta_exponent", &Model::beta_exponent)
      .def_ro("beta_exponent_error", &Model::beta_exponent_error)
      .def_ro("passes", &Model::passes)
      .def_ro("full_passes", &Model::full_passes)
      .def_ro("columns", &Model::columns)
      .def_ro("seconds", &Model::seconds)
      .def_ro("peak_rss_bytes", &Model::peak_rss_bytes)
      .def_rw("provenance", &Model::provenance)
      .def_rw("names", &Model::names)
      .def_prop_ro("eigenvalues", array_property(&Model::eigenvalues))
      .def_prop_ro("residuals", array_property(&Model::residuals))
      .def_prop_ro("q", array_property(&Model::q))
      .def_prop_ro("d", array_property(&Model::d))
      .def_prop_ro("mean", array_property(&Model::mean))
      .def_prop_ro("psi", array_property(&Model::psi))
      .def_prop_ro("points", array_property(&Model::points))
      .def_prop_ro("aside", array_property(&Model::aside))
      .def_prop_ro("sweep", &sweep)
      .def("transform", &transform, nb::arg("points").noconvert(), nb::arg("time"), nb::arg("options"),
           nb::arg("progress") = nb::none(), nb::arg("note") = nb::none())
      .def(
          "embedding", [](const Model& model, double time) { return array_from(model.embedding(time)); }, nb::arg("time"))
      // With Python's lock held: HDF5 is not safe from several threads, and h5py may use the very same library.
      .def(
          "save", [](const Model& model, const nb::bytes& path) { save_model(model, path_of(path)); }, nb::arg("path"));
  module.def(
      "load", [](const nb::bytes& path) { return load_model(path_of(path)); }, nb::arg("path"));
}

}  // namespace fd::python
