// Energies since a reader was made: for the drop-in modules, whose users subtract them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gate.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle::python {

void bind_reader(py::module_& module) {
  py::class_<EnergyReader, Holder<EnergyReader>>(module, "Reader")
      .def(py::init([](const py::object& domains, const py::object& gpus, bool strict,
                       const py::object& system) {
             EnergyMeterOptions options{
                 .domains = domains_of(domains),
                 .gpus = gpus_of(gpus),
                 .if_unavailable = strict ? IfUnavailable::fail : IfUnavailable::ignore,
                 .system = system_of(system)};
             return Holder<EnergyReader>(new EnergyReader(interruptible(
                 [options = std::move(options)] { return EnergyReader(options); })));
           }),
           py::kw_only(), py::arg("domains") = py::none(), py::arg("gpus") = py::none(),
           py::arg("strict") = true, py::arg("system") = py::none())
      .def_property_readonly("missing",
                             [](const EnergyReader& reader) { return refusals(reader.missing()); })
      .def("read", [](EnergyReader& reader) {
        const std::vector<EnergyReading> readings = unlocked([&] { return reader.read(); });
        py::dict energies;
        for (const EnergyReading& reading : readings) {
          energies[text(reading.domain)] =
              py::make_tuple(si(reading.energy.energy), reading.energy.unknown.count());
        }
        return energies;
      });
}

}  // namespace wattle::python
