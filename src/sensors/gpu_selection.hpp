// Which of the GPUs that were found are selected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "sensors/sensor.hpp"
#include "wattle/refusal.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// A GPU that was found, readable or not.
struct FoundGpu {
  Domain domain;
  DeviceInfo info{};  ///< all empty where it is not known
};

/// Every GPU, once, in the order of their domains. `sensors`: pointers to them.
template <class Sensors>
[[nodiscard]] std::vector<FoundGpu> found_gpus(const Sensors& sensors,
                                               const std::vector<SensorRefusal>& refused) {
  std::vector<FoundGpu> gpus;
  for (const auto& sensor : sensors) {
    if (!is_gpu(*sensor)) continue;
    const DeviceInfo* const info = sensor->device();
    gpus.push_back({.domain = gpu_domain_of(*sensor), .info = info ? *info : DeviceInfo{}});
  }
  for (const SensorRefusal& refusal : refused) {
    if (!refusal.domain || refusal.domain->category() != DomainCategory::gpu) continue;
    if (std::ranges::count(gpus, *refusal.domain, &FoundGpu::domain) > 0) continue;
    gpus.push_back({.domain = *refusal.domain});
  }
  std::ranges::sort(gpus, {}, &FoundGpu::domain);
  return gpus;
}
[[nodiscard]] inline std::vector<FoundGpu> found_gpus(const Survey& found) {
  return found_gpus(found.sensors, found.refused);
}

/// One number for each GPU, whatever its vendor: NVIDIA's have the driver's, those of others follow
/// after the last of them, in their order. `gpus`: all there are, also those that cannot be read,
/// so that numbers stay when one fails.
[[nodiscard]] std::map<Domain, std::uint32_t> gpu_numbers(const std::vector<FoundGpu>& gpus);

/// The same selection; all GPUs, where they are the visible ones and the environment hides none.
[[nodiscard]] GpuSelection resolved(const GpuSelection& selection,
                                    const Environment& environment = environment_variable);

/// `kinds`, without those of GPUs where none is selected: then no driver of a GPU is called.
[[nodiscard]] inline DomainKinds kinds_to_find(DomainKinds kinds,
                                               const GpuSelection& selection) noexcept {
  if (selection.is_none()) kinds.remove(DomainKinds::of({DomainCategory::gpu}));
  return kinds;
}

/// The selected ones among `gpus`, in the order in which they were given, else ascending; each
/// once. `who` starts the messages: "--gpus". A GPU that is not there is added to `missing`; where
/// that is null, it is `NoSuchDevice`. Throws `InvalidArgument` for a name that several GPUs have,
/// and as `GpuSelection::visible` says.
[[nodiscard]] std::vector<Domain> selected_gpus(
    const GpuSelection& selection, const std::vector<FoundGpu>& gpus, std::string_view who,
    std::vector<Refusal>* missing = nullptr, const Environment& environment = environment_variable);

/// How a selected GPU that does not exist is treated.
enum class AbsentGpu : bool { fails, is_missing };

/// Leaves the selected GPUs in `found`, and fills `left_out` and `missing`. Throws as
/// `selected_gpus`.
void keep_selected(const GpuSelection& selection, Survey& found, std::string_view who,
                   AbsentGpu absent = AbsentGpu::fails,
                   const Environment& environment = environment_variable);

}  // namespace wattle
