// Text between Python and the library, whose strings are bytes: names of files are whatever the system has, the rest is UTF-8.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include <flashdiffusion/error.hpp>

namespace fd::python {

namespace nb = nanobind;

// Of a path that os.fsencode has made.
inline std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

// Of what is shown; `what` names it where it cannot be.
inline std::string text_of(const nb::str& text, const char* what) {
  Py_ssize_t size = 0;
  if (const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();
  throw Error(Failure::misuse, std::string(what) + " " + nb::repr(text).c_str() + " holds a surrogate, which is no character",
              "read it as UTF-8, or replace it");
}

// A sentence of the library, which may quote a path: bytes that are no text are shown as \xff.
inline nb::str shown(const std::string& sentence) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(sentence.data(), static_cast<Py_ssize_t>(sentence.size()), "backslashreplace"));
}

}  // namespace fd::python
