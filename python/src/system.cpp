// Where sensors are, which GPUs, which domains: the arguments that all classes share.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"
#include "log.hpp"
#include "wattle/domain.hpp"
#include "wattle/error.hpp"
#include "wattle/mark.hpp"
#include "wattle/wattle.hpp"

namespace wattle::python {
namespace {

/// Counts the changes of the environment that concern sensors, and the forks.
class Generation {
 public:
  std::uint64_t number() {
    static constexpr std::array kNames = {
        "WATTLE_SYSFS",    "WATTLE_PROCFS",   "WATTLE_NVML_LIBRARY",  "WATTLE_SOCK_PATH",
        "ZEUSD_SOCK_PATH", "WATTLE_TOKEN",    "ZEUSD_TOKEN",          "CUDA_VISIBLE_DEVICES",
    };
    now_.clear();
    for (const char* const name : kNames) {
      // The GIL is held, and Python sets its environment under it.
      const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
      if (value != nullptr) now_ += value;
      now_ += '\0';
    }
    if (now_ != last_) {
      last_ = now_;
      ++number_;
    }
    return number_;
  }
  void add() noexcept { ++number_; }

 private:
  std::string now_;
  std::string last_;
  std::uint64_t number_ = 0;
};

Generation& generation() {
  static Generation& only = *new Generation;
  return only;
}

py::tuple described(const Domain& domain) {
  return py::make_tuple(text(domain.name()), text(to_string(domain.kind())), domain.index(),
                        domain.die(), text(to_string(domain.category())),
                        counts_in_total(domain.kind()));
}

py::list domain_names(const std::vector<Domain>& domains) {
  py::list names;
  for (const Domain& domain : domains) names.append(text(domain.name()));
  return names;
}

void after_fork() {
  Gate::instance().reopen_after_fork();
  reset_log_after_fork();
  generation().add();
}

/// Raises ImportError in an interpreter that is not the process's first.
void check_interpreter() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    throw py::import_error(
        "wattle cannot be imported in a sub-interpreter: use a process, or the main interpreter");
  }
}

}  // namespace

py::str text(std::string_view utf8) {
  PyObject* const decoded = PyUnicode_DecodeUTF8(
      utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogateescape");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
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
  return bytes_of(py::module_::import("os").attr("fsdecode")(path));
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

void bind_system(py::module_& module) {
  py::class_<System>(module, "System")
      .def(py::init([](const py::object& sysfs, const py::object& procfs,
                       const py::object& nvml_library, const py::object& daemon_socket,
                       const py::object& daemon_token) {
             System system = System::from_environment();
             if (!sysfs.is_none()) system.sysfs = path_of(sysfs);
             if (!procfs.is_none()) system.procfs = path_of(procfs);
             if (!nvml_library.is_none()) system.nvml_library = path_of(nvml_library);
             if (!daemon_socket.is_none()) system.daemon_socket = path_of(daemon_socket);
             if (!daemon_token.is_none()) system.daemon_token = bytes_of(daemon_token);
             return system;
           }),
           py::arg("sysfs") = py::none(), py::arg("procfs") = py::none(),
           py::arg("nvml_library") = py::none(), py::arg("daemon_socket") = py::none(),
           py::arg("daemon_token") = py::none())
      .def_property_readonly("sysfs", [](const System& s) { return text(s.sysfs.native()); })
      .def_property_readonly("procfs", [](const System& s) { return text(s.procfs.native()); })
      .def_property_readonly("nvml_library", [](const System& s) { return text(s.nvml_library); })
      .def_property_readonly("daemon_socket",
                             [](const System& s) { return text(s.daemon_socket.native()); })
      .def("__eq__", [](const System& a, const System& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const System& s) {
        return py::hash(py::make_tuple(text(s.sysfs.native()), text(s.procfs.native()),
                                       text(s.nvml_library), text(s.daemon_socket.native())));
      });

  module.def("parse_domain", [](const py::str& name) { return described(Domain::parse(bytes_of(name))); });
  module.def("custom_domain", [](const py::str& source, const py::str& part) {
    return text(Domain::custom(bytes_of(source), bytes_of(part)).name());
  });
  module.def(
      "available_domains",
      [](const py::object& system) {
        System searched = system_of(system);
        return domain_names(
            interruptible([searched = std::move(searched)] { return available_domains(searched); }));
      },
      py::arg("system") = py::none());
  module.def("to_unix", [](std::int64_t steady_ns) {
    return to_unix(TimePoint(std::chrono::nanoseconds(steady_ns)));
  });
  module.def("version", [] { return text(version()); });
  module.def("generation", [] { return generation().number(); });
  module.def("check_interpreter", &check_interpreter);
  module.def("after_fork", &after_fork);
  module.def("install_log", &install_log, py::arg("deliver"));
  module.def("take_messages", &take_messages);
  module.def("close", [] {
    remove_log();
    Gate::instance().close();
  });
  module.def(
      "mark", [](const py::str& name) { return unlocked([name = bytes_of(name)] { return mark(name); }); },
      py::arg("name"));
  module.def(
      "end_mark",
      [](const py::str& name) { return unlocked([name = bytes_of(name)] { return end_mark(name); }); },
      py::arg("name") = "");
}

}  // namespace wattle::python
