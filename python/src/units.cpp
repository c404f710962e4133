// Units of work: shares of the energy of what runs at once.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gate.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"
#include "wattle/work_units.hpp"

namespace wattle::python {
namespace {

IdleShare idle_share_of(const std::string& name) {
  if (name == "to_units") return IdleShare::to_units;
  if (name == "kept") return IdleShare::kept;
  throw InvalidArgument("idle must be \"to_units\" or \"kept\"");
}

UnitRule rule_of(const std::string& name) {
  if (name == "weight") return UnitRule::weight;
  if (name == "cpu_time") return UnitRule::cpu_time;
  throw InvalidArgument("by must be \"weight\" or \"cpu_time\"");
}

WorkUnitsOptions options_of(const py::object& domains, const py::object& gpus,
                            const std::string& idle, const std::map<std::string, double>& idle_w,
                            double period, const py::object& lag, bool strict,
                            const py::object& system) {
  WorkUnitsOptions options{.domains = domains_of(domains),
                           .gpus = gpus_of(gpus),
                           .idle = idle_share_of(idle),
                           .period = nanoseconds_of(period, "period"),
                           .if_unavailable = strict ? IfUnavailable::fail : IfUnavailable::ignore,
                           .system = system_of(system)};
  if (!lag.is_none()) options.lag = nanoseconds_of(lag.cast<double>(), "lag");
  for (const auto& [domain, power] : idle_w) {
    options.idle_power.push_back({.domain = domain, .power = Watts(power)});
  }
  return options;
}

}  // namespace

void bind_units(py::module_& module) {
  py::class_<WorkUnit>(module, "WorkUnit")
      .def("add", &WorkUnit::add, py::arg("work"))
      .def(
          "phase",
          [](WorkUnit& unit, const py::str& name, double weight) {
            unit.phase(bytes_of(name), weight);
          },
          py::arg("name"), py::arg("weight") = 1.0)
      .def("end", &WorkUnit::end)
      .def_property_readonly("id", &WorkUnit::id)
      .def_property_readonly("is_running", &WorkUnit::is_running);

  py::class_<WorkUnits, Holder<WorkUnits>>(module, "UnitsBase")
      .def(py::init([](const py::object& domains, const py::object& gpus, const std::string& idle,
                       const std::map<std::string, double>& idle_w, double period,
                       const py::object& lag, bool strict, const py::object& system) {
             WorkUnitsOptions options =
                 options_of(domains, gpus, idle, idle_w, period, lag, strict, system);
             return Holder<WorkUnits>(new WorkUnits(
                 interruptible([options = std::move(options)] { return WorkUnits(options); })));
           }),
           py::kw_only(), py::arg("domains") = py::none(), py::arg("gpus") = py::none(),
           py::arg("idle") = "to_units", py::arg("idle_w") = std::map<std::string, double>{},
           py::arg("period") = 0.1, py::arg("lag") = py::none(), py::arg("strict") = false,
           py::arg("system") = py::none())
      .def(
          "begin",
          [](WorkUnits& units, const py::str& tag, double weight,
             const std::optional<std::string>& gpu, const std::optional<std::string>& traceparent,
             const std::string& by) {
            UnitOptions options{.weight = weight, .by = rule_of(by)};
            if (traceparent) options.traceparent = *traceparent;
            if (gpu) options.gpu = Domain::parse(*gpu);
            return units.begin(bytes_of(tag), options);
          },
          py::arg("tag"), py::arg("weight") = 1.0, py::arg("gpu") = py::none(),
          py::arg("traceparent") = py::none(), py::arg("by") = "weight")
      .def("update", [](WorkUnits& units) { return unlocked([&] { return units.update(); }); })
      .def(
          "energy",
          [](const WorkUnits& units, UnitId id) -> py::object {
            const auto result = unlocked([&] { return units.result(id); });
            return result ? py::cast(result->energy) : py::none();
          },
          py::arg("id"))
      .def(
          "cpu_time",
          [](const WorkUnits& units, UnitId id) -> py::object {
            const auto result = unlocked([&] { return units.result(id); });
            return result && result->cpu_time ? py::cast(result->cpu_time->count()) : py::none();
          },
          py::arg("id"))
      .def(
          "traceparent",
          [](const WorkUnits& units, UnitId id) -> py::object {
            const auto result = unlocked([&] { return units.result(id); });
            const bool is_known = result && !result->traceparent.empty();
            return is_known ? py::cast(result->traceparent) : py::none();
          },
          py::arg("id"))
      .def("report",
           [](const WorkUnits& units) {
             return parsed(unlocked([&] { return units.report().to_json(); }));
           })
      .def_property_readonly("domains", &WorkUnits::domains)
      .def_property_readonly("missing",
                             [](const WorkUnits& units) { return refusals(units.missing()); })
      .def("stop", [](WorkUnits& units) { unlocked([&] { units.stop(); }); });
}

}  // namespace wattle::python
