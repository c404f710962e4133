// The power monitor: timelines as columns in place, energies and powers.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "column.hpp"
#include "gate.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::python {
namespace {

/// Samples of one GPU or CPU domain, which the columns of Python lie in.
template <class Sample>
struct Timeline {
  std::shared_ptr<const std::vector<Sample>> samples;

  [[nodiscard]] Column times(TimePoint Sample::*member) const {
    return unlocked([&] {
      std::vector<TimePoint> times;
      times.reserve(samples->size());
      for (const Sample& sample : *samples) times.push_back(sample.*member);
      return unix_column(times);
    });
  }
  [[nodiscard]] Column power_w() const {
    static_assert(sizeof(Watts) == sizeof(double) && std::is_standard_layout_v<Watts>);
    if (samples->empty()) return Column({});
    // A quantity is its one number.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    const auto* const first = reinterpret_cast<const double*>(&samples->front().power);
    return {samples, first, samples->size(), sizeof(Sample)};
  }
  [[nodiscard]] const Sample& at(py::ssize_t index) const {
    const auto size = static_cast<py::ssize_t>(samples->size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) throw py::index_error("the timeline has no such sample");
    return (*samples)[static_cast<std::size_t>(index)];
  }
};
using GpuTimeline = Timeline<PowerSample>;
using CpuTimeline = Timeline<CpuPowerSample>;

template <class Sample>
Timeline<Sample> timeline_of(std::vector<Sample> samples) {
  return {std::make_shared<const std::vector<Sample>>(std::move(samples))};
}

py::dict timelines_of(PowerMonitor::Timelines timelines) {
  py::dict all;
  for (auto& [gpu, samples] : timelines) all[py::int_(gpu)] = timeline_of(std::move(samples));
  return all;
}

using Time = std::optional<double>;

/// Calls `query(times...)`: all times where none is given, or those in Unix seconds.
template <class Query>
auto within(const Time& start, const Time& end, Query query) {
  constexpr double kLast = 9.2e9;  // in the year 2261
  return unlocked([&] {
    if (!start && !end) return query(std::optional<TimePoint>(), std::optional<TimePoint>());
    return query(start.value_or(0.0), end.value_or(kLast));
  });
}

std::optional<PowerDomain> power_domain_of(const py::object& word) {
  if (word.is_none()) return std::nullopt;
  return parse_power_domain(bytes_of(word));
}

Lookup lookup_of(const py::str& word) {
  const std::string name = bytes_of(word);
  if (name == "held") return Lookup::held;
  if (name == "nearest") return Lookup::nearest;
  throw InvalidArgument("there is no lookup '" + name + "': held or nearest");
}

template <class Domains>
py::tuple words_of(const Domains& domains) {
  py::list words;
  for (const PowerDomain domain : domains) words.append(text(to_string(domain)));
  return py::tuple(words);
}

Holder<PowerMonitor> make_power_monitor(const py::object& gpus, std::optional<double> update_period,
                                  std::optional<std::size_t> max_samples,
                                  std::optional<std::size_t> memory_limit,
                                  const py::object& power_domains, bool cpus, bool strict,
                                  const py::object& system) {
  PowerMonitorOptions options{
      .gpus = gpus_of(gpus),
      .max_samples_per_gpu = max_samples,
      .cpus = cpus,
      .if_unavailable = strict ? IfUnavailable::fail : IfUnavailable::ignore,
      .system = system_of(system)};
  if (update_period) options.update_period = nanoseconds_of(*update_period, "an update period");
  if (memory_limit) options.memory_limit = *memory_limit;
  if (!power_domains.is_none()) {
    options.domains.emplace();
    for (const py::handle& word : py::iter(power_domains)) {
      options.domains->push_back(parse_power_domain(bytes_of(word)));
    }
  }
  auto made = interruptible([options = std::move(options)] {
    return std::make_unique<PowerMonitor>(options);
  });
  return Holder<PowerMonitor>(made.release());
}

template <class Sample>
void bind_timeline(py::module_& module, const char* name, TimePoint Sample::*second_time,
                   const char* second_name) {
  using Line = Timeline<Sample>;
  py::class_<Line>(module, name)
      .def("__len__", [](const Line& line) { return line.samples->size(); })
      .def("__getitem__", &Line::at)
      .def_property_readonly("timestamp", [](const Line& l) { return l.times(&Sample::timestamp); })
      .def_property_readonly(second_name,
                             [second_time](const Line& l) { return l.times(second_time); })
      .def_property_readonly("power_w", &Line::power_w);
}

void bind_samples(py::module_& module) {
  py::class_<PowerSample>(module, "PowerSample")
      .def_property_readonly("timestamp", &PowerSample::unix_s)
      .def_readonly("gpu_index", &PowerSample::gpu_index)
      .def_property_readonly("power_w", [](const PowerSample& s) { return s.power.si(); })
      .def_property_readonly("power_domain",
                             [](const PowerSample& s) { return text(to_string(s.domain)); })
      .def_property_readonly("last_confirmed",
                             [](const PowerSample& s) { return to_unix(s.last_confirmed); })
      .def_property_readonly("flags", [](const PowerSample& s) { return names_of(s.flags); });
  py::class_<CpuPowerSample>(module, "CpuPowerSample")
      .def_property_readonly("begin", [](const CpuPowerSample& s) { return to_unix(s.begin); })
      .def_property_readonly("timestamp", &CpuPowerSample::unix_s)
      .def_property_readonly("domain", [](const CpuPowerSample& s) { return text(s.domain.name()); })
      .def_property_readonly("power_w", [](const CpuPowerSample& s) { return s.power.si(); });
  bind_timeline(module, "Timeline", &PowerSample::last_confirmed, "last_confirmed");
  bind_timeline(module, "CpuTimeline", &CpuPowerSample::begin, "begin");

  py::class_<AlternativeEnergy>(module, "AlternativeEnergy")
      .def_property_readonly("method", [](const AlternativeEnergy& e) { return text(to_string(e.method)); })
      .def_property_readonly("quantity", [](const AlternativeEnergy& e) { return text(e.quantity); })
      .def_property_readonly("energy_j", [](const AlternativeEnergy& e) { return si(e.energy); })
      .def_property_readonly("uncertainty_j", [](const AlternativeEnergy& e) -> std::optional<double> {
        if (!e.energy) return std::nullopt;
        return e.uncertainty.si();
      })
      .def_property_readonly("flags", [](const AlternativeEnergy& e) { return names_of(e.flags); });
  py::class_<BestEnergy, MeasuredEnergy>(module, "BestEnergy")
      .def_property_readonly("method", [](const BestEnergy& e) { return text(to_string(e.method)); })
      .def_property_readonly("quantity", [](const BestEnergy& e) { return text(e.quantity); })
      .def_readonly("coverage", &BestEnergy::coverage)
      .def_property_readonly("alternatives", [](const BestEnergy& e) {
        py::list all;
        for (const AlternativeEnergy& other : e.alternatives) all.append(py::cast(other));
        return py::tuple(all);
      });
}

void bind_questions(py::class_<PowerMonitor, Holder<PowerMonitor>>& monitor) {
  monitor
      .def("timeline",
           [](const PowerMonitor& m, const py::str& domain, std::optional<std::uint32_t> gpu,
              Time start, Time end) {
             const PowerDomain asked = parse_power_domain(bytes_of(domain));
             return timelines_of(within(start, end, [&](auto from, auto to) {
               return m.timeline(asked, gpu, from, to);
             }));
           },
           py::arg("power_domain") = "device_instant", py::arg("gpu") = py::none(),
           py::arg("start") = py::none(), py::arg("end") = py::none())
      .def("all_timelines",
           [](const PowerMonitor& m, std::optional<std::uint32_t> gpu, Time start, Time end) {
             auto found = within(start, end, [&](auto from, auto to) {
               return m.all_timelines(gpu, from, to);
             });
             py::dict all;
             for (auto& [domain, timelines] : found) {
               all[text(to_string(domain))] = timelines_of(std::move(timelines));
             }
             return all;
           },
           py::arg("gpu") = py::none(), py::arg("start") = py::none(), py::arg("end") = py::none())
      .def("cpu_timeline",
           [](const PowerMonitor& m, const py::str& domain, Time start, Time end) {
             const Domain asked = Domain::parse(bytes_of(domain));
             return timeline_of(within(start, end, [&](auto from, auto to) {
               return m.cpu_timeline(asked, from, to);
             }));
           },
           py::arg("domain"), py::arg("start") = py::none(), py::arg("end") = py::none())
      .def("energy",
           [](const PowerMonitor& m, double start, double end, const py::object& domain) {
             return unlocked([&, asked = power_domain_of(domain)] {
               return m.energy(start, end, asked);
             });
           },
           py::arg("start"), py::arg("end"), py::arg("power_domain") = py::none())
      .def("cpu_energy",
           [](const PowerMonitor& m, double start, double end) {
             const auto energies = unlocked([&] { return m.cpu_energy(start, end); });
             py::dict all;
             for (const auto& [domain, energy] : energies) all[text(domain.name())] = energy;
             return all;
           },
           py::arg("start"), py::arg("end"))
      .def("total_energy",
           [](const PowerMonitor& m, double start, double end) {
             return unlocked([&] { return m.total_energy(start, end); });
           },
           py::arg("start"), py::arg("end"))
      .def("power",
           [](const PowerMonitor& m, const py::object& domain) {
             return unlocked([&, asked = power_domain_of(domain)] { return m.power(asked); });
           },
           py::arg("power_domain") = py::none())
      .def("power_at",
           [](const PowerMonitor& m, double time, const py::object& domain, const py::str& lookup) {
             return unlocked([&, asked = power_domain_of(domain), how = lookup_of(lookup)] {
               return m.power_at(time, how, asked);
             });
           },
           py::arg("time"), py::arg("power_domain") = py::none(), py::arg("lookup") = "held")
      .def("cpu_power", [](const PowerMonitor& m) {
        const auto powers = unlocked([&] { return m.cpu_power(); });
        py::dict all;
        for (const auto& [domain, power] : powers) all[text(domain.name())] = py::cast(power);
        return all;
      });
}

}  // namespace

void bind_power(py::module_& module) {
  bind_samples(module);
  py::class_<PowerMonitor, Holder<PowerMonitor>> monitor(module, "PowerMonitorBase");
  monitor
      .def(py::init(&make_power_monitor), py::arg("gpus") = py::none(),
           py::arg("update_period") = py::none(), py::arg("max_samples_per_gpu") = py::none(),
           py::kw_only(), py::arg("memory_limit") = py::none(),
           py::arg("power_domains") = py::none(), py::arg("cpus") = true, py::arg("strict") = false,
           py::arg("system") = py::none())
      .def("stop", [](PowerMonitor& m) { unlocked([&] { m.stop(); }); })
      .def_property_readonly("missing", [](const PowerMonitor& m) { return refusals(m.missing()); })
      .def_property_readonly("gpu_indices", &PowerMonitor::gpu_indices)
      .def_property_readonly("cpu_domains",
                             [](const PowerMonitor& m) {
                               py::list names;
                               for (const Domain& d : m.cpu_domains()) names.append(text(d.name()));
                               return names;
                             })
      .def_property_readonly("update_period",
                             [](const PowerMonitor& m) { return Seconds(m.update_period()).count(); })
      .def_property_readonly("memory_bytes", &PowerMonitor::memory_bytes)
      .def("supported_domains",
           [](const PowerMonitor& m, std::uint32_t gpu) { return words_of(m.supported_domains(gpu)); },
           py::arg("gpu"))
      .def("default_domain",
           [](const PowerMonitor& m, std::uint32_t gpu) -> py::object {
             const auto domain = m.default_domain(gpu);
             if (!domain) return py::none();
             return text(to_string(*domain));
           },
           py::arg("gpu"))
      .def("has_counter", &PowerMonitor::has_counter, py::arg("gpu"))
      .def("read_now",
           [](const PowerMonitor& m, double patience_s) {
             const auto patience = nanoseconds_of(patience_s, "the patience");
             return unlocked([&] { return m.read_now(patience); });
           },
           py::arg("patience_s") = 0.1);
  bind_questions(monitor);
  module.def(
      "infer_update_period",
      [](const py::object& gpus, const py::object& system) {
        return Seconds(interruptible([chosen = gpus_of(gpus), searched = system_of(system)] {
                 return infer_update_period(chosen, searched);
               })).count();
      },
      py::arg("gpus") = py::none(), py::arg("system") = py::none());
}

}  // namespace wattle::python
