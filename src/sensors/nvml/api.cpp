#include "sensors/nvml/api.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace wattle::nvml {
namespace {

template <class Function>
void bind(const DynamicLibrary& library, Function*& slot, const char* symbol) noexcept {
  slot = library.find<Function>(symbol);
}

}  // namespace

Api load_api(const DynamicLibrary& library) noexcept {
  Api api;
  bind(library, api.init, "nvmlInit_v2");
  bind(library, api.shutdown, "nvmlShutdown");
  bind(library, api.error_string, "nvmlErrorString");
  bind(library, api.driver_version, "nvmlSystemGetDriverVersion");
  bind(library, api.device_count, "nvmlDeviceGetCount_v2");
  bind(library, api.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  bind(library, api.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  bind(library, api.name, "nvmlDeviceGetName");
  bind(library, api.uuid, "nvmlDeviceGetUUID");
  bind(library, api.pci_info, "nvmlDeviceGetPciInfo_v3");
  bind(library, api.mig_mode, "nvmlDeviceGetMigMode");
  bind(library, api.total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  bind(library, api.field_values, "nvmlDeviceGetFieldValues");
  bind(library, api.power_usage, "nvmlDeviceGetPowerUsage");
  bind(library, api.enforced_power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  bind(library, api.power_limit, "nvmlDeviceGetPowerManagementLimit");
  bind(library, api.power_limit_range, "nvmlDeviceGetPowerManagementLimitConstraints");
  bind(library, api.persistence_mode, "nvmlDeviceGetPersistenceMode");
  bind(library, api.utilization, "nvmlDeviceGetUtilizationRates");
  bind(library, api.memory, "nvmlDeviceGetMemoryInfo");
  bind(library, api.memory_v2, "nvmlDeviceGetMemoryInfo_v2");
  bind(library, api.temperature, "nvmlDeviceGetTemperature");
  bind(library, api.clock, "nvmlDeviceGetClockInfo");
  bind(library, api.set_power_limit, "nvmlDeviceSetPowerManagementLimit");
  bind(library, api.set_persistence_mode, "nvmlDeviceSetPersistenceMode");
  bind(library, api.lock_gpu_clocks, "nvmlDeviceSetGpuLockedClocks");
  bind(library, api.free_gpu_clocks, "nvmlDeviceResetGpuLockedClocks");
  bind(library, api.lock_memory_clocks, "nvmlDeviceSetMemoryLockedClocks");
  bind(library, api.free_memory_clocks, "nvmlDeviceResetMemoryLockedClocks");
  bind(library, api.max_clock, "nvmlDeviceGetMaxClockInfo");
  bind(library, api.memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  bind(library, api.graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  bind(library, api.compute_processes[0], "nvmlDeviceGetComputeRunningProcesses_v3");
  bind(library, api.compute_processes[1], "nvmlDeviceGetComputeRunningProcesses_v2");
  bind(library, api.compute_processes[2], "nvmlDeviceGetComputeRunningProcesses");
  bind(library, api.graphics_processes[0], "nvmlDeviceGetGraphicsRunningProcesses_v3");
  bind(library, api.graphics_processes[1], "nvmlDeviceGetGraphicsRunningProcesses_v2");
  bind(library, api.graphics_processes[2], "nvmlDeviceGetGraphicsRunningProcesses");
  bind(library, api.process_utilization, "nvmlDeviceGetProcessUtilization");
  return api;
}

std::string describe(const Api& api, Return code) {
  const char* const text = api.error_string != nullptr ? api.error_string(code) : nullptr;
  return fmt::format("{} ({})", text != nullptr ? printable(text) : "NVML error",
                     static_cast<int>(code));
}

}  // namespace wattle::nvml
