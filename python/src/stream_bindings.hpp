// What the files of wattle._stream share.
#pragma once

#include <pybind11/pybind11.h>

namespace wattle::python {

void bind_daemon_client(pybind11::module_& module);
void bind_power_stream(pybind11::module_& module);

}  // namespace wattle::python
