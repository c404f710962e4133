// The extension module wattle._core.
#include "bindings.hpp"
#include "column.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ library of Wattle. Use the package wattle.";
  wattle::python::register_errors();
  wattle::python::bind_life(module);
  wattle::python::bind_column(module);
  wattle::python::bind_system(module);
  wattle::python::bind_energy(module);
  wattle::python::bind_trace(module);
  wattle::python::bind_meter(module);
  wattle::python::bind_power(module);
  wattle::python::bind_reader(module);
  wattle::python::bind_units(module);
  wattle::python::bind_usage(module);
  wattle::python::bind_run_log(module);
  wattle::python::bind_run_monitor(module);
}
