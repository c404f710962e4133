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

py::object interval(const std::optional<EnergyInterval>& energy) {
  if (!energy) return py::none();
  return py::make_tuple(energy->value.si(), energy->low.si(), energy->high.si());
}

py::object interval(const std::optional<PowerInterval>& power) {
  if (!power) return py::none();
  return py::make_tuple(power->value.si(), power->low.si(), power->high.si());
}

py::dict tag_of(const UnitTag& tag) {
  py::dict found;
  found["tag"] = text(tag.tag);
  found["phase"] = text(tag.phase);
  found["count"] = tag.count;
  found["unknown"] = tag.unknown;
  found["mean_time_s"] = tag.mean_time.count();
  found["sum_j"] = tag.sum.si();
  found["work"] = tag.work;
  found["mean_j"] = interval(tag.mean);
  found["median_j"] = interval(tag.median);
  found["p95_j"] = interval(tag.p95);
  found["p99_j"] = interval(tag.p99);
  found["per_work_j"] = interval(tag.per_work);
  found["is_short"] = tag.is_short;
  found["fitted_j"] = interval(tag.fitted);
  found["doubt"] = text(tag.doubt);
  found["disagrees"] = tag.disagrees;
  return found;
}

py::dict domain_of(const UnitDomain& domain) {
  py::dict found;
  found["domain"] = text(domain.domain);
  found["measured_j"] = domain.balance.measured.si();
  found["units_j"] = domain.balance.units.si();
  found["running_j"] = domain.balance.running.si();
  found["idle_j"] = domain.balance.idle.si();
  found["without_units_j"] = domain.balance.without_units.si();
  found["unknown_s"] = domain.balance.unknown.count();
  found["idle_w"] = domain.idle ? py::object(py::float_(domain.idle->power.si())) : py::none();
  found["has_idle_changed"] = domain.has_idle_changed;
  found["lag_s"] = domain.lag.count();
  found["unexplained_w"] = interval(domain.unexplained);
  found["is_curved"] = domain.is_curved;
  found["share_w"] = si(domain.share);
  found["slope_w"] = si(domain.slope);
  return found;
}

py::dict contrast_of(const UnitContrast& contrast) {
  py::dict found;
  found["first"] = text(contrast.first);
  found["second"] = text(contrast.second);
  found["ratio"] = contrast.ratio;
  return found;
}

py::dict report_of(const UnitsReport& report) {
  py::list tags;
  for (const UnitTag& tag : report.tags) tags.append(tag_of(tag));
  py::list domains;
  for (const UnitDomain& domain : report.domains) domains.append(domain_of(domain));
  py::list contrasts;
  for (const UnitContrast& contrast : report.contrasts) contrasts.append(contrast_of(contrast));
  py::dict found;
  found["tags"] = tags;
  found["domains"] = domains;
  found["contrasts"] = contrasts;
  found["running"] = report.running;
  found["waiting"] = report.waiting;
  found["ended_twice"] = report.ended_twice;
  found["refused"] = report.refused;
  found["beyond_tags"] = report.beyond_tags;
  return found;
}

WorkUnitsOptions options_of(const py::object& domains, const py::object& gpus,
                            const std::string& idle, const std::map<std::string, double>& idle_w,
                            double period, const py::object& lag, bool strict,
                            const py::object& system) {
  WorkUnitsOptions options{.domains = domains_of(domains),
                           .gpus = gpus_of(gpus),
                           .idle = idle_share_of(idle),
                           .period = nanoseconds_of(period, "period"),
                           .if_unavailable =
                               strict ? IfUnavailable::fail : IfUnavailable::ignore,
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
             return Holder<WorkUnits>(new WorkUnits(interruptible(
                 [options = std::move(options)] { return WorkUnits(options); })));
           }),
           py::kw_only(), py::arg("domains") = py::none(), py::arg("gpus") = py::none(),
           py::arg("idle") = "to_units", py::arg("idle_w") = std::map<std::string, double>{},
           py::arg("period") = 0.1, py::arg("lag") = py::none(), py::arg("strict") = false,
           py::arg("system") = py::none())
      .def(
          "begin",
          [](WorkUnits& units, const py::str& tag, double weight,
             const std::optional<std::string>& gpu) {
            UnitOptions options{.weight = weight};
            if (gpu) options.gpu = Domain::parse(*gpu);
            return units.begin(bytes_of(tag), options);
          },
          py::arg("tag"), py::arg("weight") = 1.0, py::arg("gpu") = py::none())
      .def("update", [](WorkUnits& units) { return unlocked([&] { return units.update(); }); })
      .def(
          "energy",
          [](const WorkUnits& units, UnitId id) -> py::object {
            const auto result = unlocked([&] { return units.result(id); });
            return result ? py::cast(result->energy) : py::none();
          },
          py::arg("id"))
      .def("report",
           [](const WorkUnits& units) {
             return report_of(unlocked([&] { return units.report(); }));
           })
      .def_property_readonly("domains", &WorkUnits::domains)
      .def_property_readonly("missing",
                             [](const WorkUnits& units) { return refusals(units.missing()); })
      .def("stop", [](WorkUnits& units) { unlocked([&] { units.stop(); }); });
}

}  // namespace wattle::python
