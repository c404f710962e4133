// Where sensors are, which GPUs, which domains: the arguments that all classes share.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"
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

}  // namespace

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
  module.def("note_fork", [] { generation().add(); });
  module.def(
      "mark", [](const py::str& name) { return unlocked([name = bytes_of(name)] { return mark(name); }); },
      py::arg("name"));
  module.def(
      "end_mark",
      [](const py::str& name) { return unlocked([name = bytes_of(name)] { return end_mark(name); }); },
      py::arg("name") = "");
}

}  // namespace wattle::python
