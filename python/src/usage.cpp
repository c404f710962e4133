// The tracker, and what a process and its descendants used.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"
#include "wattle/tracker.hpp"

namespace wattle::python {
namespace {

/// A tracker whose results are copied: they stay when it goes.
struct Tracked {
  std::unique_ptr<Tracker> tracker;
};

Holder<Tracked> make_tracker(double sleep_time, const py::str& ram_unit,
                             const py::str& gpu_ram_unit, const py::str& time_unit,
                             std::optional<unsigned> n_expected_cores, const py::object& gpus,
                             bool disable_logs, std::optional<int> process_id,
                             const py::object& resource_usage_file, const py::object& gpu_brand,
                             const py::object& tracking_file, bool overwrite, bool force_pss,
                             const py::object& system) {
  TrackerOptions options{.sleep_time = nanoseconds_of(sleep_time, "a sleep time"),
                         .ram_unit = bytes_of(ram_unit),
                         .gpu_ram_unit = bytes_of(gpu_ram_unit),
                         .time_unit = bytes_of(time_unit),
                         .n_expected_cores = n_expected_cores,
                         .gpus = gpus_of(gpus),
                         .disable_logs = disable_logs,
                         .process_id = process_id,
                         .resource_usage_file = optional_path(resource_usage_file),
                         .tracking_file = optional_path(tracking_file),
                         .overwrite = overwrite,
                         .force_pss = force_pss,
                         .system = system_of(system)};
  if (!gpu_brand.is_none()) options.gpu_brand = bytes_of(gpu_brand);
  auto tracker =
      interruptible([options = std::move(options)] { return std::make_unique<Tracker>(options); });
  return Holder<Tracked>(new Tracked{std::move(tracker)});
}

void bind_groups(py::module_& module) {
  py::class_<RSSValues>(module, "RSSValues")
      .def_readonly("total_rss", &RSSValues::total_rss)
      .def_readonly("private_rss", &RSSValues::private_rss)
      .def_readonly("shared_rss", &RSSValues::shared_rss);
  py::class_<MaxRAM>(module, "MaxRAM")
      .def_readonly("unit", &MaxRAM::unit)
      .def_readonly("system_capacity", &MaxRAM::system_capacity)
      .def_readonly("system", &MaxRAM::system)
      .def_readonly("main", &MaxRAM::main)
      .def_readonly("descendants", &MaxRAM::descendants)
      .def_readonly("combined", &MaxRAM::combined);
  py::class_<MaxGPURAM>(module, "MaxGPURAM")
      .def_readonly("unit", &MaxGPURAM::unit)
      .def_readonly("system_capacity", &MaxGPURAM::system_capacity)
      .def_readonly("system", &MaxGPURAM::system)
      .def_readonly("main", &MaxGPURAM::main)
      .def_readonly("descendants", &MaxGPURAM::descendants)
      .def_readonly("combined", &MaxGPURAM::combined);
  using Percentages = ProcessingUnitPercentages;
  py::class_<Percentages>(module, "ProcessingUnitPercentages")
      .def_readonly("max_sum_percent", &Percentages::max_sum_percent)
      .def_readonly("max_hardware_percent", &Percentages::max_hardware_percent)
      .def_readonly("mean_sum_percent", &Percentages::mean_sum_percent)
      .def_readonly("mean_hardware_percent", &Percentages::mean_hardware_percent);
  py::class_<CPUUtilization>(module, "CPUUtilization")
      .def_readonly("system_core_count", &CPUUtilization::system_core_count)
      .def_readonly("n_expected_cores", &CPUUtilization::n_expected_cores)
      .def_readonly("system", &CPUUtilization::system)
      .def_readonly("main", &CPUUtilization::main)
      .def_readonly("descendants", &CPUUtilization::descendants)
      .def_readonly("combined", &CPUUtilization::combined)
      .def_readonly("main_n_threads", &CPUUtilization::main_n_threads)
      .def_readonly("descendants_n_threads", &CPUUtilization::descendants_n_threads)
      .def_readonly("combined_n_threads", &CPUUtilization::combined_n_threads);
  py::class_<GPUUtilization>(module, "GPUUtilization")
      .def_readonly("system_gpu_count", &GPUUtilization::system_gpu_count)
      .def_readonly("n_expected_gpus", &GPUUtilization::n_expected_gpus)
      .def_readonly("gpu_percentages", &GPUUtilization::gpu_percentages);
  py::class_<ComputeTime>(module, "ComputeTime")
      .def_readonly("unit", &ComputeTime::unit)
      .def_readonly("time", &ComputeTime::time);
}

void bind_resource_usage(py::module_& module) {
  py::class_<ResourceUsage>(module, "ResourceUsage")
      .def_readonly("max_ram", &ResourceUsage::max_ram)
      .def_readonly("max_gpu_ram", &ResourceUsage::max_gpu_ram)
      .def_readonly("cpu_utilization", &ResourceUsage::cpu_utilization)
      .def_readonly("gpu_utilization", &ResourceUsage::gpu_utilization)
      .def_readonly("compute_time", &ResourceUsage::compute_time)
      .def("to_dict", [](const ResourceUsage& u) { return parsed(u.to_json()); })
      .def("to_native_dict", [](const ResourceUsage& u) { return parsed(u.to_native_json()); })
      .def("to_json", [](const ResourceUsage& u) { return text(u.to_json()); })
      .def("__str__", [](const ResourceUsage& u) { return shown(u.to_text()); });
}

}  // namespace

void bind_usage(py::module_& module) {
  bind_groups(module);
  bind_resource_usage(module);
  py::class_<Tracked, Holder<Tracked>>(module, "TrackerBase")
      .def(py::init(&make_tracker), py::arg("sleep_time") = 1.0, py::arg("ram_unit") = "gigabytes",
           py::arg("gpu_ram_unit") = "gigabytes", py::arg("time_unit") = "hours",
           py::arg("n_expected_cores") = py::none(), py::kw_only(), py::arg("gpus") = py::none(),
           py::arg("disable_logs") = false, py::arg("process_id") = py::none(),
           py::arg("resource_usage_file") = py::none(), py::arg("gpu_brand") = py::none(),
           py::arg("tracking_file") = py::none(), py::arg("overwrite") = false,
           py::arg("force_pss") = false, py::arg("system") = py::none())
      .def("start", [](Tracked& t) { unlocked([&] { t.tracker->start(); }); })
      .def("stop", [](Tracked& t) { unlocked([&] { t.tracker->stop(); }); })
      .def_property_readonly("state",
                             [](const Tracked& t) { return text(to_string(t.tracker->state())); })
      .def_property_readonly("has_target_ended",
                             [](const Tracked& t) { return t.tracker->has_target_ended(); })
      .def_property_readonly("resource_usage",
                             [](const Tracked& t) { return t.tracker->resource_usage(); });
  module.def(
      "recover_usage",
      [](const py::object& file) {
        return unlocked([path = path_of(file)] { return recover_usage(path); });
      },
      py::arg("usage_file"));
}

}  // namespace wattle::python
