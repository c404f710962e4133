// Raising the exceptions of wattle/_errors.py.
#pragma once

#include <pybind11/pybind11.h>

#include "bindings.hpp"
#include "wattle/error.hpp"

namespace wattle::python {

/// Raises `wattle._errors.NAME(message, *details)`.
template <class... Details>
void raise(const char* name, const Error& error, const Details&... details) {
  try {
    const py::object kind = py::module_::import("wattle._errors").attr(name);
    const py::object raised = kind(text(error.what()), details...);
    PyErr_SetObject(kind.ptr(), raised.ptr());
  } catch (py::error_already_set& missing) {
    missing.restore();
  }
}

}  // namespace wattle::python
