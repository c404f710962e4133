// The life of an extension module: its log, forks, and the end of the interpreter.
#include <pybind11/pybind11.h>

#include "bindings.hpp"
#include "gate.hpp"
#include "log.hpp"

namespace wattle::python {
namespace {

void after_fork() {
  Gate::instance().reopen_after_fork();
  reset_log_after_fork();
}

/// Raises ImportError in an interpreter that is not the process's first.
void check_interpreter() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    throw py::import_error(
        "wattle cannot be imported in a sub-interpreter: use a process, or the main interpreter");
  }
}

}  // namespace

void bind_life(py::module_& module) {
  module.def("check_interpreter", &check_interpreter);
  module.def("after_fork", &after_fork);
  module.def("install_log", &install_log, py::arg("deliver"));
  module.def("take_messages", &take_messages);
  module.def("close", [] {
    remove_log();
    Gate::instance().close();
  });
}

}  // namespace wattle::python
