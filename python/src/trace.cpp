// Samples and traces: a sequence by number, a mapping by tag, columns for arrays.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <limits>
#include <sstream>
#include <utility>

#include "bindings.hpp"
#include "column.hpp"
#include "gate.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle::python {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

py::dict energies_of(const EnergySample& sample) {
  py::dict energies;
  for (std::size_t i = 0; i < sample.domains()->size(); ++i) {
    energies[text((*sample.domains())[i])] = py::cast(sample.energies()[i]);
  }
  return energies;
}

EnergySample sample_from(double timestamp, const py::str& tag, double seconds,
                         const py::dict& energies) {
  auto names = std::make_shared<std::vector<std::string>>();
  std::vector<MeasuredEnergy> values;
  for (const auto& [name, energy] : energies) {
    names->push_back(bytes_of(name));
    if (py::isinstance<MeasuredEnergy>(energy)) {
      values.push_back(energy.cast<MeasuredEnergy>());
    } else if (energy.is_none()) {
      values.push_back({.unknown = Seconds(seconds)});
    } else {
      values.push_back({.energy = Joules(energy.cast<double>())});
    }
  }
  return {from_unix(timestamp), bytes_of(tag), Seconds(seconds), std::move(names),
          std::move(values)};
}

/// The place of an item of Python, which counts from the end where it is negative.
std::size_t place_of(const EnergyTrace& trace, py::ssize_t index) {
  const auto size = static_cast<py::ssize_t>(trace.size());
  const py::ssize_t place = index < 0 ? index + size : index;
  if (place < 0 || place >= size) {
    throw NoSuchSample("the trace has no sample " + std::to_string(index) + ": it has " +
                       std::to_string(size));
  }
  return static_cast<std::size_t>(place);
}

EnergyTrace slice_of(const EnergyTrace& trace, const py::slice& slice) {
  py::ssize_t start = 0;
  py::ssize_t stop = 0;
  py::ssize_t step = 0;
  py::ssize_t length = 0;
  if (!slice.compute(static_cast<py::ssize_t>(trace.size()), &start, &stop, &step, &length)) {
    throw py::error_already_set();
  }
  std::vector<EnergySample> samples;
  samples.reserve(static_cast<std::size_t>(length));
  for (py::ssize_t i = 0; i < length; ++i) {
    samples.push_back(trace[static_cast<std::size_t>(start + i * step)]);
  }
  return EnergyTrace(std::move(samples), {trace.missing().begin(), trace.missing().end()});
}

void clean_data(EnergyTrace& trace, const py::args& guards) {
  std::vector<EnergyTrace::Guard> checks;
  for (const py::handle& guard : guards) {
    checks.emplace_back([guard](const EnergySample& sample) {
      const int answer = PyObject_IsTrue(guard(sample).ptr());
      if (answer < 0) throw py::error_already_set();
      return answer != 0;
    });
  }
  trace.clean_data(checks);
}

void remove_idle_power(EnergyTrace& trace, const std::map<std::string, double>& idle_w) {
  IdlePower idle;
  for (const auto& [domain, power_w] : idle_w) idle.emplace(domain, Watts(power_w));
  trace.remove_idle(idle);
}

/// Columns of numbers by name; an unknown energy is not a number. Raises `InconsistentSamples`.
py::dict columns_of(const EnergyTrace& trace) {
  std::vector<std::pair<std::string, Column>> columns;
  unlocked([&] {
    const EnergyTable table = to_table(trace);
    columns.emplace_back("timestamp", unix_column(table.timestamps));
    std::vector<double> seconds;
    seconds.reserve(table.rows());
    for (const Seconds duration : table.durations) seconds.push_back(duration.count());
    columns.emplace_back("seconds", Column(std::move(seconds)));
    for (const EnergyColumn& domain : table.domains) {
      const auto add = [&](const char* suffix, auto value) {
        std::vector<double> numbers;
        numbers.reserve(table.rows());
        for (const MeasuredEnergy& energy : domain.energies) numbers.push_back(value(energy));
        columns.emplace_back(domain.domain + suffix, Column(std::move(numbers)));
      };
      add("_j", [](const MeasuredEnergy& e) { return e.energy ? e.energy->si() : kNothing; });
      add("_uncertainty_j",
          [](const MeasuredEnergy& e) { return e.energy ? e.uncertainty.si() : kNothing; });
      add("_unknown_s", [](const MeasuredEnergy& e) { return e.unknown.count(); });
    }
  });
  py::dict result;
  for (auto& [name, column] : columns) result[text(name)] = py::cast(std::move(column));
  return result;
}

py::list tags_of(const EnergyTrace& trace) {
  py::list tags(trace.size());
  std::size_t i = 0;
  for (const EnergySample& sample : trace) tags[i++] = text(sample.tag());
  return tags;
}

void bind_sample(py::module_& module) {
  const auto state_of = [](const EnergySample& s) {
    return py::make_tuple(s.timestamp_unix_s(), text(s.tag()), s.duration().count(),
                          energies_of(s));
  };
  py::class_<EnergySample>(module, "EnergySample")
      .def(py::init(&sample_from), py::arg("timestamp"), py::arg("tag"), py::arg("seconds"),
           py::arg("domains"))
      .def_property_readonly("timestamp", &EnergySample::timestamp_unix_s)
      .def_property_readonly("tag", [](const EnergySample& s) { return text(s.tag()); })
      .def_property_readonly("seconds", [](const EnergySample& s) { return s.duration().count(); })
      .def_property_readonly("domains", &energies_of)
      .def_property_readonly("total", &EnergySample::total)
      .def_property_readonly("total_j", [](const EnergySample& s) { return si(s.total().energy); })
      .def("__getitem__", [](const EnergySample& s, const py::str& d) { return s.energy(bytes_of(d)); })
      .def("is_complete",
           [](const EnergySample& s, const py::str& domain) {
             const std::string name = bytes_of(domain);
             static_cast<void>(s.energy(name));  // throws for a domain that it does not have
             std::size_t i = 0;
             while ((*s.domains())[i] != name) ++i;
             return s.is_complete(i);
           },
           py::arg("domain"))
      .def("__eq__", [](const EnergySample& a, const EnergySample& b) { return a == b; },
           py::is_operator())
      .def("__hash__",
           [](const EnergySample& s) {
             return py::hash(py::make_tuple(s.timestamp().time_since_epoch().count(), text(s.tag())));
           })
      .def("__repr__",
           [state_of](const EnergySample& s) {
             return py::str("EnergySample(timestamp={!r}, tag={!r}, seconds={!r}, domains={!r})")
                 .format(*state_of(s));
           })
      .def(py::pickle(state_of, [](const py::tuple& state) {
        return sample_from(state[0].cast<double>(), state[1], state[2].cast<double>(), state[3]);
      }));
}

}  // namespace

void bind_trace(py::module_& module) {
  bind_sample(module);
  const auto make = [](const py::iterable& samples, const py::iterable& missing) {
    std::vector<EnergySample> list;
    for (const py::handle& sample : samples) list.push_back(sample.cast<EnergySample>());
    std::vector<Refusal> reasons;
    for (const py::handle& refusal : missing) reasons.push_back(refusal.cast<Refusal>());
    return EnergyTrace(std::move(list), std::move(reasons));
  };
  py::class_<EnergyTrace>(module, "EnergyTraceBase")
      .def(py::init(make), py::arg("samples") = py::tuple(0), py::arg("missing") = py::tuple(0))
      .def("__len__", &EnergyTrace::size)
      .def("_sample", [](const EnergyTrace& t, py::ssize_t i) { return t[place_of(t, i)]; })
      .def("_tagged", [](const EnergyTrace& t, const py::str& tag) { return t[bytes_of(tag)]; })
      .def("_slice", &slice_of)
      .def("_has_tag", [](const EnergyTrace& t, const py::str& tag) { return t.contains(bytes_of(tag)); })
      .def("_has_sample",
           [](const EnergyTrace& t, const EnergySample& sample) {
             return std::find(t.begin(), t.end(), sample) != t.end();
           })
      .def_property_readonly("missing", [](const EnergyTrace& t) { return refusals(t.missing()); })
      .def_property_readonly("tags", &tags_of)
      .def("append", &EnergyTrace::append, py::arg("sample"))
      .def("_add", [](EnergyTrace& t, const EnergyTrace& other) { t += other; })
      .def("_assign", [](EnergyTrace& t, const EnergyTrace& other) { t = other; })
      .def("clean_data", &clean_data)
      .def("_remove_idle", [](EnergyTrace& t, const EnergyTrace& idle) { t.remove_idle(idle); })
      .def("_remove_idle", &remove_idle_power)
      .def("columns", &columns_of)
      .def("_equals", [](const EnergyTrace& a, const EnergyTrace& b) { return a == b; })
      .def("_lines",
           [](const EnergyTrace& t, bool details) {
             std::ostringstream lines;
             PrintHandler(lines, {.details = details}).process(t);
             return text(lines.str());
           },
           py::arg("details"));

  py::class_<CsvHandler, Holder<CsvHandler>>(module, "CsvHandler")
      .def(py::init([](const py::object& path, bool details) {
             return Holder<CsvHandler>(new CsvHandler(
                 path_of(path), {.details = details}));
           }),
           py::arg("path"), py::arg("details") = false)
      .def("process", [](CsvHandler& h, const EnergyTrace& trace) { h.process(trace); },
           py::arg("trace"))
      .def("save_data", [](CsvHandler& h) { unlocked([&] { h.save_data(); }); });
}

}  // namespace wattle::python
