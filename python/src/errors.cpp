// Exceptions of the library as exceptions of Python: the classes are in wattle/_errors.py.
#include <pybind11/pybind11.h>

#include <exception>
#include <string>

#include "bindings.hpp"
#include "raise.hpp"
#include "wattle/error.hpp"

namespace wattle::python {
namespace {

void translate(std::exception_ptr thrown) {
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    raise("InvalidArgument", error);
  } catch (const PermissionDenied& error) {
    raise("PermissionDenied", error, text(error.path()), text(error.remedy()));
  } catch (const NoSuchDomain& error) {
    raise("NoSuchDomain", error, text(error.domain_name()));
  } catch (const NoSuchDevice& error) {
    raise("NoSuchDevice", error);
  } catch (const NoSuchSample& error) {
    raise("NoSuchSample", error);
  } catch (const CapabilityError& error) {
    raise("CapabilityError", error);
  } catch (const NotStarted& error) {
    raise("NotStarted", error);
  } catch (const NotStopped& error) {
    raise("NotStopped", error);
  } catch (const InvalidState& error) {
    raise("InvalidState", error);
  } catch (const InconsistentSamples& error) {
    raise("InconsistentSamples", error);
  } catch (const NoSampleProcessed& error) {
    raise("NoSampleProcessed", error);
  } catch (const WriteError& error) {
    raise("WriteError", error, text(error.path()), py::int_(error.error_number()));
  } catch (const FormatError& error) {
    raise("FormatError", error, text(error.path()));
  } catch (const Error& error) {
    raise("Error", error);
  }
}

/// A value of a wrong type within a list or a dictionary.
void translate_casts(std::exception_ptr thrown) {
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const py::cast_error& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
}

}  // namespace

void register_errors() {
  py::register_exception_translator(&translate);
  // Not for the modules of others.
  py::register_local_exception_translator(&translate_casts);
}

}  // namespace wattle::python
