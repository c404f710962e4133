// Arguments and results, between Python and the library.
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "bindings.hpp"
#include "wattle/domain.hpp"
#include "wattle/error.hpp"

namespace wattle::python {

py::str text(std::string_view utf8) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogateescape");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

py::object shown(std::string_view utf8) {
  return py::module_::import("wattle._text").attr("fitting")(text(utf8));
}

std::string bytes_of(const py::handle& text) {
  if (PyUnicode_Check(text.ptr()) == 0) {
    throw py::type_error("a text is needed, not " +
                         std::string(py::str(py::type::handle_of(text).attr("__name__"))));
  }
  Py_ssize_t size = 0;
  // Nearly all text: no surrogates, nothing to allocate.
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size); utf8 != nullptr) {
    return {utf8, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  const auto encoded = py::reinterpret_steal<py::bytes>(
      PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!encoded) {
    PyErr_Clear();  // half of a pair of surrogates
    return std::string(py::bytes(text.attr("encode")("utf-8", "replace")));
  }
  return std::string(encoded);
}

std::string path_of(const py::object& path) {
  std::string bytes = bytes_of(py::module_::import("os").attr("fsdecode")(path));
  // The system would take what is before it for the path.
  if (bytes.find('\0') != std::string::npos) {
    throw InvalidArgument("cannot use a path with a null byte in it");
  }
  return bytes;
}

std::optional<std::filesystem::path> optional_path(const py::object& path) {
  if (path.is_none()) return std::nullopt;
  return path_of(path);
}

py::object parsed(std::string_view json) {
  return py::module_::import("json").attr("loads")(text(json));
}

GpuSelection gpus_of(const py::object& gpus) {
  if (gpus.is_none()) return {};
  if (py::isinstance<py::str>(gpus)) return GpuSelection::parse(bytes_of(gpus));
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> names;
  for (const py::handle& gpu : py::iter(gpus)) {
    if (py::isinstance<py::str>(gpu)) {
      names.push_back(bytes_of(gpu));
      continue;
    }
    // Also integers of numpy; no floats.
    const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(gpu.ptr()));
    if (!number) throw py::error_already_set();
    const long long value = PyLong_AsLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) PyErr_Clear();
    if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) {
      throw InvalidArgument("cannot select the GPU " + std::string(py::str(gpu)) +
                            ": numbers of GPUs start at 0");
    }
    numbers.push_back(static_cast<std::uint32_t>(value));
  }
  if (names.empty()) return {std::move(numbers)};
  for (const std::uint32_t number : numbers) names.push_back(std::to_string(number));
  return GpuSelection::named(std::move(names));
}

System system_of(const py::object& system) {
  return system.is_none() ? System::from_environment() : system.cast<System>();
}

std::optional<std::vector<Domain>> domains_of(const py::object& names) {
  if (names.is_none()) return std::nullopt;
  std::vector<Domain> domains;
  if (py::isinstance<py::str>(names)) {
    domains.push_back(Domain::parse(bytes_of(names)));
    return domains;
  }
  for (const py::handle& name : py::iter(names)) domains.push_back(Domain::parse(bytes_of(name)));
  return domains;
}

std::chrono::nanoseconds nanoseconds_of(double seconds, const char* what) {
  constexpr double kMost = 9e9;  // 285 years
  if (!(std::abs(seconds) < kMost)) {
    throw InvalidArgument(std::string(what) + " is a number of seconds, not " +
                          std::string(py::str(py::float_(seconds))));
  }
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

py::tuple names_of(Flags flags) {
  if (flags.none()) return py::tuple(0);
  py::list names;
  flags.each([&](std::string_view name) { names.append(text(name)); });
  return py::tuple(names);
}

Flags flags_of(const py::iterable& names) {
  Flags flags;
  for (const py::handle& given : names) {
    const std::string name = bytes_of(given);
    const auto* const found = std::ranges::find(kFlagNames, name);
    if (found == kFlagNames.end()) throw InvalidArgument("there is no flag " + name);
    flags.set(static_cast<Flag>(found - kFlagNames.begin()));
  }
  return flags;
}

}  // namespace wattle::python
