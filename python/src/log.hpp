// The log of the library, on its way to Python's `logging`.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

namespace wattle::python {

/// Messages are kept until Python takes them: a thread of the library never waits for the GIL to
/// log. Python's main thread is asked to take them soon. `deliver` takes no argument.
void install_log(pybind11::function deliver);
/// From now on the library logs nothing. Called when the interpreter ends.
void remove_log();
/// The messages since the last call, in their order.
pybind11::list take_messages();
/// In the child of a fork: no other thread exists, whatever the lock says.
void reset_log_after_fork();
/// Adds a message of the bindings themselves.
void log_message(std::string_view message);

}  // namespace wattle::python
