// The keys of a usage's JSON, which are described in docs/json.md.
#pragma once

#include <tuple>

#include "base/json/json_fields.hpp"
#include "base/numbers/known_sum.hpp"
#include "sampling/energy_fields.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

template <>
inline constexpr auto kFields<RSSValues> = std::tuple(Field("total_rss", &RSSValues::total_rss),
                                                      Field("private_rss", &RSSValues::private_rss),
                                                      Field("shared_rss", &RSSValues::shared_rss));

/// Fields of the machine's memory, or of its GPUs' memory.
template <class MaxMemory>
inline constexpr auto kMemoryFields = std::tuple(
    Field("unit", &MaxMemory::unit), Field("system_capacity", &MaxMemory::system_capacity),
    Field("system", &MaxMemory::system), Field("main", &MaxMemory::main),
    Field("descendants", &MaxMemory::descendants), Field("combined", &MaxMemory::combined));
template <>
inline constexpr auto kFields<MaxRAM> = kMemoryFields<MaxRAM>;
template <>
inline constexpr auto kFields<MaxGPURAM> = kMemoryFields<MaxGPURAM>;

template <>
inline constexpr auto kFields<ProcessingUnitPercentages> =
    std::tuple(Field("max_sum_percent", &ProcessingUnitPercentages::max_sum_percent),
               Field("max_hardware_percent", &ProcessingUnitPercentages::max_hardware_percent),
               Field("mean_sum_percent", &ProcessingUnitPercentages::mean_sum_percent),
               Field("mean_hardware_percent", &ProcessingUnitPercentages::mean_hardware_percent));

template <>
inline constexpr auto kFields<CPUUtilization> =
    std::tuple(Field("system_core_count", &CPUUtilization::system_core_count),
               Field("n_expected_cores", &CPUUtilization::n_expected_cores),
               Field("system", &CPUUtilization::system), Field("main", &CPUUtilization::main),
               Field("descendants", &CPUUtilization::descendants),
               Field("combined", &CPUUtilization::combined),
               Field("main_n_threads", &CPUUtilization::main_n_threads),
               Field("descendants_n_threads", &CPUUtilization::descendants_n_threads),
               Field("combined_n_threads", &CPUUtilization::combined_n_threads));

template <>
inline constexpr auto kFields<GPUUtilization> =
    std::tuple(Field("system_gpu_count", &GPUUtilization::system_gpu_count),
               Field("n_expected_gpus", &GPUUtilization::n_expected_gpus),
               Field("gpu_percentages", &GPUUtilization::gpu_percentages));

template <>
inline constexpr auto kFields<ComputeTime> =
    std::tuple(Field("unit", &ComputeTime::unit), Field("time", &ComputeTime::time));

template <>
inline constexpr auto kFields<ProcessUsage> = std::tuple(
    Field("pid", &ProcessUsage::pid), Field("name", &ProcessUsage::name),
    Field("cpu_s", &ProcessUsage::cpu), Field("peak_rss_bytes", &ProcessUsage::peak_rss_bytes));

template <>
inline constexpr auto kFields<UnknownUsage> =
    std::tuple(Field("keys", &UnknownUsage::keys), Field("reason", &UnknownUsage::reason));
template <>
inline constexpr auto kFields<UsageBound> =
    std::tuple(Field("key", &UsageBound::key), Field("at_most", &UsageBound::at_most));
template <>
inline constexpr auto kFields<UsageMismatch> =
    std::tuple(Field("keys", &UsageMismatch::keys), Field("reason", &UsageMismatch::reason));
template <>
inline constexpr auto kFields<UsageMechanism> = std::tuple(
    Field("keys", &UsageMechanism::keys), Field("mechanism", &UsageMechanism::mechanism));

/// The five groups of a `ResourceUsage`.
inline constexpr std::tuple kUsageGroups(Field("max_ram", &ResourceUsage::max_ram),
                                         Field("max_gpu_ram", &ResourceUsage::max_gpu_ram),
                                         Field("cpu_utilization", &ResourceUsage::cpu_utilization),
                                         Field("gpu_utilization", &ResourceUsage::gpu_utilization),
                                         Field("compute_time", &ResourceUsage::compute_time));
/// The groups, and after them Wattle's own keys.
template <>
inline constexpr auto kFields<ResourceUsage> = std::tuple_cat(
    kUsageGroups, std::tuple(Field("cpu_user_s", &ResourceUsage::cpu_user),
                             Field("cpu_system_s", &ResourceUsage::cpu_system),
                             Derived("cpu_s",
                                     [](const ResourceUsage& usage) {
                                       return or_null(known_sum(usage.cpu_user, usage.cpu_system));
                                     }),
                             Field("cpu_task_clock_s", &ResourceUsage::cpu_task_clock),
                             Field("peak_rss_bytes", &ResourceUsage::peak_rss_bytes),
                             Field("peak_pss_bytes", &ResourceUsage::peak_pss_bytes),
                             Field("io_read_bytes", &ResourceUsage::io_read_bytes),
                             Field("io_written_bytes", &ResourceUsage::io_written_bytes),
                             Field("storage_read_bytes", &ResourceUsage::storage_read_bytes),
                             Field("storage_written_bytes", &ResourceUsage::storage_written_bytes),
                             Field("minor_faults", &ResourceUsage::minor_faults),
                             Field("major_faults", &ResourceUsage::major_faults),
                             Field("voluntary_switches", &ResourceUsage::voluntary_switches),
                             Field("involuntary_switches", &ResourceUsage::involuntary_switches),
                             Field("still_running", &ResourceUsage::still_running),
                             Field("processes", &ResourceUsage::processes),
                             Field("unknown", &ResourceUsage::unknown),
                             Field("estimated", &ResourceUsage::estimated),
                             Field("bounds", &ResourceUsage::bounds),
                             Field("mismatches", &ResourceUsage::mismatches),
                             Field("mechanisms", &ResourceUsage::mechanisms)));

}  // namespace wattle
