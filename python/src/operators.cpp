// The kernel as an operator: loaded once, applied as often as the caller likes.
#include <flashdiffusion/kernel_operator.hpp>

#include <memory>
#include <optional>

#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "watcher.hpp"

namespace fd::python {
namespace {

nb::object product(const KernelOperator& kernel, const Rows& w, bool diagonal, bool transposed) {
  const PointsView view = view_of(w);
  return array_from(watched(nb::none(), nb::none(), [&](Observer* observer) {
    return transposed ? kernel.apply_transposed(view, observer, diagonal) : kernel.apply(view, observer, diagonal);
  }));
}

}  // namespace

void bind_operators(nb::module_& module) {
  nb::class_<KernelOperator>(module, "KernelOperator")
      .def(
          "__init__",
          [](KernelOperator* self, const Rows& x, const std::optional<Rows>& z, double beta, const Options& options) {
            const PointsView rows = view_of(x), columns = z ? view_of(*z) : PointsView();
            new (self) KernelOperator(watched(nb::none(), nb::none(), [&](Observer* observer) {
              Options watched_options = options;
              watched_options.observer = observer;
              return z ? KernelOperator(rows, columns, beta, watched_options) : KernelOperator(rows, beta, watched_options);
            }));
          },
          nb::arg("x").noconvert(), nb::arg("z").noconvert().none(), nb::arg("beta"), nb::arg("options"))
      .def_prop_ro("rows", &KernelOperator::rows)
      .def_prop_ro("columns", &KernelOperator::columns)
      .def_prop_ro("beta", &KernelOperator::beta)
      .def(
          "apply", [](const KernelOperator& kernel, const Rows& w, bool diagonal) { return product(kernel, w, diagonal, false); },
          nb::arg("w").noconvert(), nb::arg("diagonal") = true)
      .def(
          "apply_transposed",
          [](const KernelOperator& kernel, const Rows& w, bool diagonal) { return product(kernel, w, diagonal, true); },
          nb::arg("w").noconvert(), nb::arg("diagonal") = true);
}

}  // namespace fd::python
