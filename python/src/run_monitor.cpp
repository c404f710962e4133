// The hardware monitor, and summaries of its files.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::python {
namespace {

using Path = std::optional<std::filesystem::path>;

py::object path_text(const Path& path) {
  if (!path) return py::none();
  return text(path->native());
}

Holder<HardwareMonitor> make_hardware_monitor(double interval, bool overwrite,
                                              const py::object& gpus, bool strict,
                                              const py::object& system) {
  HardwareMonitorOptions options{
      .interval = nanoseconds_of(interval, "an interval"),
      .overwrite = overwrite,
      .gpus = gpus_of(gpus),
      .if_unavailable = strict ? IfUnavailable::fail : IfUnavailable::ignore,
      .system = system_of(system)};
  auto made = interruptible(
      [options = std::move(options)] { return std::make_unique<HardwareMonitor>(options); });
  return Holder<HardwareMonitor>(made.release());
}

template <class Figures>
void bind_figures(py::class_<Figures>& figures) {
  figures.def_readonly("peak_vram_mb", &Figures::peak_vram_mb)
      .def_readonly("gpu_util_mean_pct", &Figures::gpu_util_mean_pct)
      .def_readonly("gpu_util_max_pct", &Figures::gpu_util_max_pct)
      .def_readonly("mem_util_mean_pct", &Figures::mem_util_mean_pct)
      .def_readonly("mem_util_max_pct", &Figures::mem_util_max_pct)
      .def_readonly("power_watts_mean", &Figures::power_watts_mean)
      .def_readonly("power_watts_max", &Figures::power_watts_max)
      .def_property_readonly("energy_j", [](const Figures& f) { return si(f.energy); })
      .def_property_readonly("uncertainty_j",
                             [](const Figures& f) { return si(f.energy_uncertainty); })
      .def_property_readonly("unknown_s", [](const Figures& f) { return f.energy_unknown.count(); })
      .def_property_readonly("flags", [](const Figures& f) { return names_of(f.energy_flags); });
}

void bind_summary(py::module_& module) {
  py::class_<GpuSummary> gpu(module, "GpuSummary");
  bind_figures(gpu);
  gpu.def_property_readonly("name", [](const GpuSummary& s) { return text(s.name); });
  py::class_<ResourceSummary> summary(module, "ResourceSummary");
  bind_figures(summary);
  summary.def_readonly("cpu_usr_mean_pct", &ResourceSummary::cpu_usr_mean_pct)
      .def_readonly("cpu_idle_mean_pct", &ResourceSummary::cpu_idle_mean_pct)
      .def_readonly("jax_peak_bytes_mb", &ResourceSummary::jax_peak_bytes_mb)
      .def_property_readonly("gpus",
                             [](const ResourceSummary& s) {
                               py::list all;
                               for (const GpuSummary& one : s.gpus) all.append(py::cast(one));
                               return py::tuple(all);
                             })
      .def_property_readonly("domains",
                             [](const ResourceSummary& s) {
                               py::dict all;
                               for (const DomainSummary& d : s.domains)
                                 all[text(d.name)] = d.energy;
                               return all;
                             })
      .def_property_readonly("machine_energy",
                             [](const ResourceSummary& s) { return s.machine.energy; })
      .def("set_allocator_peak", &ResourceSummary::set_allocator_peak, py::arg("mebibytes"))
      .def("to_dict", [](const ResourceSummary& s) { return parsed(s.to_dict()); })
      .def("to_native_dict", [](const ResourceSummary& s) { return parsed(s.to_json()); })
      .def("__str__", [](const ResourceSummary& s) { return shown(s.to_text()); });
}

}  // namespace

void bind_run_monitor(py::module_& module) {
  py::class_<HardwareFiles>(module, "HardwareFiles")
      .def_property_readonly("gpu_csv", [](const HardwareFiles& f) { return path_text(f.gpu_csv); })
      .def_property_readonly("cpu_csv", [](const HardwareFiles& f) { return path_text(f.cpu_csv); })
      .def_property_readonly("dmon_csv",
                             [](const HardwareFiles& f) { return path_text(f.dmon_csv); })
      .def_property_readonly("samples_csv",
                             [](const HardwareFiles& f) { return path_text(f.samples_csv); })
      .def_readonly("lost_rows", &HardwareFiles::lost_rows);
  bind_summary(module);
  py::class_<HardwareMonitor, Holder<HardwareMonitor>>(module, "HardwareMonitorBase")
      .def(py::init(&make_hardware_monitor), py::kw_only(), py::arg("interval") = 2.0,
           py::arg("overwrite") = false, py::arg("gpus") = py::none(), py::arg("strict") = false,
           py::arg("system") = py::none())
      .def(
          "start",
          [](HardwareMonitor& m, const py::object& folder) {
            unlocked([&, path = path_of(folder)] { m.start(path); });
          },
          py::arg("output_dir"))
      .def("stop", [](HardwareMonitor& m) { return unlocked([&] { return m.stop(); }); })
      .def_property_readonly("is_started", &HardwareMonitor::is_started);
  module.def(
      "build_resource_summary",
      [](const py::object& gpu, const py::object& cpu, const py::object& dmon,
         const py::object& samples) {
        return unlocked(
            [g = optional_path(gpu), c = optional_path(cpu), d = optional_path(dmon),
             s = optional_path(samples)] { return build_resource_summary(g, c, d, s); });
      },
      py::arg("gpu_csv_path"), py::arg("cpu_csv_path"), py::arg("dmon_csv_path") = py::none(),
      py::arg("samples_csv_path") = py::none());
  module.def(
      "summarize_files",
      [](const HardwareFiles& files) {
        return unlocked([&] { return build_resource_summary(files); });
      },
      py::arg("files"));
}

}  // namespace wattle::python
