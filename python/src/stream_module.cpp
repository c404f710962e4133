// The extension module wattle._stream: what needs libcurl.
#include <exception>

#include "bindings.hpp"
#include "raise.hpp"
#include "stream_bindings.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle::python {
namespace {

/// The other exceptions are those of wattle._core, which is loaded first.
void translate_daemon(std::exception_ptr thrown) {
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const ConnectionError& error) {
    raise("ConnectionError", error);
  } catch (const AuthError& error) {
    raise("AuthError", error);
  }
}

}  // namespace
}  // namespace wattle::python

PYBIND11_MODULE(_stream, module) {
  module.doc() = "Daemons of this and other machines. Use the module wattle.stream.";
  pybind11::module_::import("wattle._core");
  pybind11::register_exception_translator(&wattle::python::translate_daemon);
  wattle::python::bind_life(module);
  wattle::python::bind_daemon_client(module);
  wattle::python::bind_power_stream(module);
}
