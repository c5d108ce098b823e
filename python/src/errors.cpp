// fd::Error as the exception that a Python programmer expects, with the same text in the words of the package: whatever was called, options have
// the names of its parameters.
#include <string>

#include <flashdiffusion/error.hpp>

#include "bindings.hpp"
#include "text.hpp"

namespace fd::python {
namespace {

PyObject* exception_for(Failure kind) {
  switch (kind) {
    case Failure::misuse:
    case Failure::input: return PyExc_ValueError;
    case Failure::io: return PyExc_OSError;
    case Failure::memory: return PyExc_MemoryError;
    case Failure::interrupted: return PyExc_KeyboardInterrupt;
    case Failure::device: break;
  }
  return PyExc_RuntimeError;
}

nb::object in_python(const nb::str& sentence) {
  try {
    return nb::module_::import_("flashdiffusion.warnings").attr("in_python")(sentence);
  } catch (const nb::python_error&) {  // what went wrong is to be said all the same
    return sentence;
  }
}

}  // namespace

void bind_errors(nanobind::module_&) {
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const std::string text = error.hint().empty() ? error.what() : std::string(error.what()) + "; " + error.hint();
      PyErr_SetObject(exception_for(error.kind()), in_python(shown(text)).ptr());
    }
  });
}

}  // namespace fd::python
