// The page that shows what a fit found.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <flashdiffusion/report.hpp>

#include "bindings.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace fd::python {

void bind_report(nb::module_& module) {
  nb::class_<Labels>(module, "Labels")
      .def(nb::init<>())
      .def_prop_rw(
          "name", [](const Labels& labels) { return labels.name; },
          [](Labels& labels, const nb::str& name) { labels.name = text_of(name, "the name of labels"); })
      .def_prop_rw(
          "words", [](const Labels& labels) { return labels.words; },
          [](Labels& labels, const nb::list& words) {
            labels.words.clear();
            for (const nb::handle word : words) labels.words.push_back(text_of(nb::borrow<nb::str>(word), "the label"));
          })
      .def_rw("numbers", &Labels::numbers);
  nb::class_<Remark>(module, "Remark")
      .def_ro("name", &Remark::name)
      .def_prop_ro("weight", [](const Remark& remark) { return std::string(name(remark.weight)); })
      .def_ro("sentence", &Remark::sentence)
      .def_ro("action", &Remark::action);
  module.def(
      "remarks", [](const Model& model) { return remarks(model); }, nb::arg("model"));
  module.def(
      "report_page",
      [](const Model& model, const nb::str& title, const std::vector<Labels>& labels) {
        ReportOptions options;
        options.title = text_of(title, "the title");
        options.labels = labels;
        return report_page(model, options);
      },
      nb::arg("model"), nb::arg("title"), nb::arg("labels"));
}

}  // namespace fd::python
