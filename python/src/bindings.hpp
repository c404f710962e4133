// What the files of the extension module share.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/refusal.hpp"
#include "wattle/system.hpp"

namespace wattle::python {

namespace py = pybind11;

void register_errors();
void bind_system(py::module_& module);
void bind_energy(py::module_& module);
void bind_trace(py::module_& module);
void bind_life(py::module_& module);
void bind_meter(py::module_& module);
void bind_power(py::module_& module);
void bind_reader(py::module_& module);
void bind_run_log(py::module_& module);
void bind_run_monitor(py::module_& module);
void bind_units(py::module_& module);
void bind_usage(py::module_& module);

/// Text of the library. Bytes that are not UTF-8 (a file's name) become surrogates, as
/// `os.fsdecode` has them.
[[nodiscard]] py::str text(std::string_view utf8);

/// The text as stdout can print it, whatever its encoding: for `str`.
[[nodiscard]] py::object shown(std::string_view utf8);

/// Text for the library: the inverse of `text`.
[[nodiscard]] std::string bytes_of(const py::handle& text);

/// A path, or anything with `__fspath__`.
[[nodiscard]] std::string path_of(const py::object& path);
/// Absent for None.
[[nodiscard]] std::optional<std::filesystem::path> optional_path(const py::object& path);

/// JSON as objects of Python.
[[nodiscard]] py::object parsed(std::string_view json);

/// None, "all", "none", "visible", names with commas between, or a list of numbers or names.
[[nodiscard]] GpuSelection gpus_of(const py::object& gpus);

/// A `System`, or None: that of the environment.
[[nodiscard]] System system_of(const py::object& system);

/// Absent for None. Names that are no domain raise `InvalidArgument`.
[[nodiscard]] std::optional<std::vector<Domain>> domains_of(const py::object& names);

[[nodiscard]] py::tuple refusals(std::span<const Refusal> refused);

/// The names of flags, in their order.
[[nodiscard]] py::tuple names_of(Flags flags);
[[nodiscard]] Flags flags_of(const py::iterable& names);

/// None where it is absent.
template <class Quantity>
[[nodiscard]] std::optional<double> si(const std::optional<Quantity>& quantity) {
  if (!quantity) return std::nullopt;
  return quantity->si();
}

/// Seconds from Python. `what` names them in the message of `InvalidArgument` for NaN, infinities
/// and what 64 bits of nanoseconds cannot hold.
[[nodiscard]] std::chrono::nanoseconds nanoseconds_of(double seconds, const char* what);

}  // namespace wattle::python
