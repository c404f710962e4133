// A measured energy, and why something is not measured.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

#include "bindings.hpp"
#include "wattle/error.hpp"

namespace wattle::python {
namespace {

py::object uncertainty_j(const MeasuredEnergy& energy) {
  if (!energy.energy) return py::none();
  return py::float_(energy.uncertainty.si());
}

py::tuple energy_state(const MeasuredEnergy& energy) {
  return py::make_tuple(si(energy.energy), energy.uncertainty.si(), energy.unknown.count(),
                        energy.flags.bits(), energy.common.si());
}

MeasuredEnergy energy_from(const py::tuple& state) {
  MeasuredEnergy energy{.uncertainty = Joules(state[1].cast<double>()),
                        .common = Joules(state.size() > 4 ? state[4].cast<double>() : 0.0),
                        .unknown = Seconds(state[2].cast<double>()),
                        .flags = Flags::from_bits(state[3].cast<std::uint32_t>())};
  if (!state[0].is_none()) energy.energy = Joules(state[0].cast<double>());
  return energy;
}

std::string repr_of(const MeasuredEnergy& energy) {
  return py::str("Energy(energy_j={!r}, uncertainty_j={!r}, unknown_s={!r}, flags={!r})")
      .format(si(energy.energy), uncertainty_j(energy), energy.unknown.count(),
              names_of(energy.flags))
      .cast<std::string>();
}

}  // namespace

py::tuple refusals(std::span<const Refusal> refused) {
  py::tuple all(refused.size());
  for (std::size_t i = 0; i < refused.size(); ++i) all[i] = py::cast(refused[i]);
  return all;
}

void bind_energy(py::module_& module) {
  py::class_<MeasuredEnergy>(module, "Energy")
      .def(py::init([](std::optional<double> energy_j, double uncertainty_j, double unknown_s,
                       const py::iterable& flags, double common_j) {
             MeasuredEnergy energy{.uncertainty = Joules(uncertainty_j),
                                   .common = Joules(common_j),
                                   .unknown = Seconds(unknown_s),
                                   .flags = flags_of(flags)};
             if (energy_j) energy.energy = Joules(*energy_j);
             return energy;
           }),
           py::arg("energy_j") = py::none(), py::arg("uncertainty_j") = 0.0,
           py::arg("unknown_s") = 0.0, py::arg("flags") = py::tuple(0), py::arg("common_j") = 0.0)
      .def_property_readonly("energy_j", [](const MeasuredEnergy& e) { return si(e.energy); })
      .def_property_readonly("uncertainty_j", &uncertainty_j)
      .def_property_readonly("common_j",
                             [](const MeasuredEnergy& e) {
                               return e.energy ? py::object(py::float_(e.common.si())) : py::none();
                             })
      .def_property_readonly("unknown_s", [](const MeasuredEnergy& e) { return e.unknown.count(); })
      .def_property_readonly("flags", [](const MeasuredEnergy& e) { return names_of(e.flags); })
      .def(
          "__eq__", [](const MeasuredEnergy& a, const MeasuredEnergy& b) { return a == b; },
          py::is_operator())
      .def("__hash__", [](const MeasuredEnergy& e) { return py::hash(energy_state(e)); })
      .def("__repr__", &repr_of)
      .def(py::pickle(&energy_state, &energy_from));

  const auto fields = [](const Refusal& r) {
    return py::make_tuple(text(r.subject), text(r.reason), text(r.remedy), text(r.source));
  };
  py::class_<Refusal>(module, "Refusal")
      .def(py::init([](const py::str& subject, const py::str& reason, const py::str& remedy,
                       const py::str& source) {
             return Refusal{.subject = bytes_of(subject),
                            .reason = bytes_of(reason),
                            .remedy = bytes_of(remedy),
                            .source = bytes_of(source)};
           }),
           py::arg("subject"), py::arg("reason") = "", py::arg("remedy") = "",
           py::arg("source") = "")
      .def_property_readonly("subject", [](const Refusal& r) { return text(r.subject); })
      .def_property_readonly("reason", [](const Refusal& r) { return text(r.reason); })
      .def_property_readonly("remedy", [](const Refusal& r) { return text(r.remedy); })
      .def_property_readonly("source", [](const Refusal& r) { return text(r.source); })
      .def(
          "__eq__", [](const Refusal& a, const Refusal& b) { return a == b; }, py::is_operator())
      .def("__hash__", [fields](const Refusal& r) { return py::hash(fields(r)); })
      .def("__str__",
           [](const Refusal& r) {
             std::string line = r.subject + ": " + r.reason;
             if (!r.remedy.empty()) line += " (" + r.remedy + ")";
             return shown(line);
           })
      .def("__repr__",
           [fields](const Refusal& r) {
             return py::str("Refusal(subject={!r}, reason={!r}, remedy={!r}, source={!r})")
                 .format(*fields(r));
           })
      .def(py::pickle(fields, [](const py::tuple& state) {
        return Refusal{.subject = bytes_of(state[0]),
                       .reason = bytes_of(state[1]),
                       .remedy = bytes_of(state[2]),
                       .source = bytes_of(state[3])};
      }));
}

}  // namespace wattle::python
