// The energy meter, and sources of energy that are written in Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gate.hpp"
#include "log.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"
#include "wattle/estimate.hpp"

namespace wattle::python {
namespace {

/// A `wattle.EnergySource` of Python. What it raises is logged, and nothing is read then.
class PythonSource final : public EnergySource {
 public:
  explicit PythonSource(const py::object& source) : source_(source) {
    for (const py::handle& counter : py::iter(source.attr("counters")())) {
      counters_.push_back(
          {.name = bytes_of(counter.attr("name")),
           .tick = Joules(counter.attr("tick_j").cast<double>()),
           .modulus = counter.attr("modulus").cast<std::uint64_t>(),
           .max_power = Watts(counter.attr("max_power_w").cast<double>()),
           .update_interval = nanoseconds_of(counter.attr("update_interval_s").cast<double>(),
                                             "an update interval")});
    }
    for (const py::handle& gauge : py::iter(source.attr("gauges")())) {
      gauges_.push_back(
          {.name = bytes_of(gauge.attr("name")),
           .update_interval = nanoseconds_of(gauge.attr("update_interval_s").cast<double>(),
                                             "an update interval")});
    }
  }
  PythonSource(const PythonSource&) = delete;
  PythonSource& operator=(const PythonSource&) = delete;
  ~PythonSource() override {
    PyObject* const source = source_.release().ptr();
    // Once the interpreter ends nobody may touch its objects.
    Gate::instance().enter([source] { Py_DECREF(source); });
  }

  /// The source whose method this thread calls; null outside.
  [[nodiscard]] static const PythonSource* reading() noexcept { return reading_; }

  [[nodiscard]] std::vector<Counter> counters() const override { return counters_; }
  [[nodiscard]] std::vector<Gauge> gauges() const override { return gauges_; }
  void read(std::span<std::optional<std::uint64_t>> raw) noexcept override { fill(raw, "read"); }
  void read_power(std::span<std::optional<Watts>> power) noexcept override {
    fill(power, "read_power");
  }

 private:
  template <class Values>
  void fill(Values values, const char* method) noexcept {
    Gate::instance().enter([&] {
      const PythonSource* const outer = std::exchange(reading_, this);
      try {
        std::size_t i = 0;
        for (const py::handle& value : py::iter(source_.attr(method)())) {
          if (i == values.size()) break;
          if (!value.is_none()) set(values[i], value);
          ++i;
        }
      } catch (py::error_already_set& error) {
        // Ctrl-C came in here: it is raised where the program is. `what` runs Python: it would take
        // it.
        if (error.matches(PyExc_KeyboardInterrupt)) {
          PyErr_SetInterrupt();
        } else {
          report(method, error.what());
        }
      } catch (const std::exception& error) {
        report(method, error.what());
      }
      reading_ = outer;
    });
  }
  static void set(std::optional<std::uint64_t>& raw, const py::handle& value) {
    raw = value.cast<std::uint64_t>();
  }
  static void set(std::optional<Watts>& power, const py::handle& value) {
    const auto power_w = value.cast<double>();
    if (std::isfinite(power_w) && power_w >= 0) power = Watts(power_w);
  }
  void report(const char* method, const char* reason) noexcept {
    if (std::exchange(is_reported_, true)) return;
    try {
      log_message(std::string("a source of energy cannot be read: ") + method + ": " + reason);
    } catch (const std::exception&) {
      return;  // no memory for it
    }
  }

  static inline thread_local const PythonSource* reading_ = nullptr;

  py::object source_;
  std::vector<Counter> counters_;
  std::vector<Gauge> gauges_;
  bool is_reported_ = false;
};

/// A meter that threads may share: they wait for each other, without the GIL.
struct Meter {
  Meter(EnergyMeter made, std::vector<const PythonSource*> its_sources)
      : meter(std::move(made)), sources(std::move(its_sources)) {}

  template <class Function>
  auto use(Function function) {
    require_outside();
    return unlocked([&] {
      const std::lock_guard lock(mutex);
      return function(meter);
    });
  }
  /// Throws `InvalidState` in a call of one of its sources: it would wait for itself.
  void require_outside() const {
    if (std::ranges::find(sources, PythonSource::reading()) == sources.end()) return;
    throw InvalidState("a source of energy cannot use the meter that reads it");
  }

  std::mutex mutex;
  EnergyMeter meter;
  std::vector<const PythonSource*>
      sources;  ///< those that are written in Python; for comparison alone
};

Holder<Meter> held(EnergyMeter meter, std::vector<const PythonSource*> sources) {
  return Holder<Meter>(new Meter(std::move(meter), std::move(sources)));
}

std::optional<std::string> tag_of(const py::object& tag) {
  if (tag.is_none()) return std::nullopt;
  return bytes_of(tag);
}

EnergyMeterOptions options_of(const py::object& domains, const py::object& gpus,
                              const py::str& default_tag, bool aligned, bool strict,
                              const py::object& system) {
  return {.domains = domains_of(domains),
          .gpus = gpus_of(gpus),
          .default_tag = bytes_of(default_tag),
          .aligned = aligned,
          .if_unavailable = strict ? IfUnavailable::fail : IfUnavailable::ignore,
          .system = system_of(system)};
}

Holder<Meter> opened(EnergyMeterOptions options, const py::iterable& sources) {
  std::vector<const PythonSource*> known;
  for (const py::handle& source : sources) {
    const auto made = std::make_shared<PythonSource>(py::reinterpret_borrow<py::object>(source));
    known.push_back(made.get());
    options.sources.push_back(made);
  }
  EnergyMeter meter =
      interruptible([options = std::move(options)] { return EnergyMeter::shared(options); });
  return held(std::move(meter), std::move(known));
}

/// A meter of the same sensors, started.
Holder<Meter> begun(const Meter& m, const py::object& tag) {
  m.require_outside();
  const auto given = tag_of(tag);
  EnergyMeter started = unlocked([&] {
    EnergyMeter meter = m.meter.another();
    meter.start(given);
    return meter;
  });
  return held(std::move(started), m.sources);
}

py::object range_of(const std::optional<EnergyRange>& range) {
  if (!range) return py::none();
  return py::make_tuple(range->low.si(), range->typical.si(), range->high.si());
}

py::dict estimate_of(const EnergyEstimate& estimate) {
  py::dict all;
  all["machine"] = range_of(estimate.machine);
  all["own"] = range_of(estimate.own);
  all["unknown"] = text(estimate.unknown);
  all["method"] = text(estimate.method);
  all["basis"] = text(estimate.basis);
  all["covers"] = text(estimate.covers);
  py::list excludes;
  for (const std::string& part : estimate.excludes) excludes.append(text(part));
  all["excludes"] = py::tuple(excludes);
  all["microarchitecture"] = text(estimate.microarchitecture);
  all["is_known"] = estimate.is_known;
  all["mean_load"] = estimate.mean_load;
  return all;
}

void bind_estimator(py::module_& module) {
  py::class_<EnergyEstimator, Holder<EnergyEstimator>>(module, "Estimator")
      .def(py::init([](const py::object& system) {
             System searched = system_of(system);
             return Holder<EnergyEstimator>(
                 unlocked([&] { return new EnergyEstimator({.system = std::move(searched)}); }));
           }),
           py::arg("system") = py::none())
      .def("start", [](EnergyEstimator& e) { unlocked([&] { e.start(); }); })
      .def("stop", [](EnergyEstimator& e) { unlocked([&] { e.stop(); }); })
      .def(
          "estimate",
          [](const EnergyEstimator& e, std::optional<double> cpu_s) {
            std::optional<Seconds> cpu_time;
            if (cpu_s) cpu_time = Seconds(*cpu_s);
            return estimate_of(unlocked([&] { return e.estimate(cpu_time); }));
          },
          py::arg("cpu_s") = py::none());
}

}  // namespace

void bind_meter(py::module_& module) {
  py::class_<Meter, Holder<Meter>>(module, "Meter")
      .def(py::init([](const py::object& domains, const py::object& gpus,
                       const py::iterable& sources, const py::str& default_tag, bool aligned,
                       bool strict, const py::object& system) {
             return opened(options_of(domains, gpus, default_tag, aligned, strict, system),
                           sources);
           }),
           py::kw_only(), py::arg("domains") = py::none(), py::arg("gpus") = py::none(),
           py::arg("sources") = py::tuple(0), py::arg("default_tag") = "",
           py::arg("aligned") = false, py::arg("strict") = false, py::arg("system") = py::none())
      .def("another", [](Meter& m) { return held(m.meter.another(), m.sources); })
      .def("begin", begun, py::arg("tag") = py::none())
      .def_property_readonly("domains",
                             [](const Meter& m) {
                               py::list names;
                               for (const std::string& name : *m.meter.domains()) {
                                 names.append(text(name));
                               }
                               return py::tuple(names);
                             })
      .def(
          "start",
          [](Meter& m, const py::object& tag) {
            m.use([tag = tag_of(tag)](EnergyMeter& meter) { meter.start(tag); });
          },
          py::arg("tag") = py::none())
      .def(
          "record",
          [](Meter& m, const py::object& tag) {
            m.use([tag = tag_of(tag)](EnergyMeter& meter) { meter.record(tag); });
          },
          py::arg("tag") = py::none())
      .def(
          "resume",
          [](Meter& m, const py::object& tag) {
            m.use([tag = tag_of(tag)](EnergyMeter& meter) { meter.resume(tag); });
          },
          py::arg("tag") = py::none())
      .def("stop", [](Meter& m) { m.use([](EnergyMeter& meter) { meter.stop(); }); })
      .def_property_readonly("is_running", [](const Meter& m) { return m.meter.is_running(); })
      .def(
          "reserve",
          [](Meter& m, std::size_t calls) {
            m.use([calls](EnergyMeter& meter) { meter.reserve(calls); });
          },
          py::arg("calls"))
      .def("trace",
           [](Meter& m) { return m.use([](EnergyMeter& meter) { return meter.trace(); }); });
  bind_estimator(module);
}

}  // namespace wattle::python
