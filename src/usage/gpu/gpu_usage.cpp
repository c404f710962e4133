#include "usage/gpu/gpu_usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "usage/files/usage_units.hpp"

namespace wattle {
namespace {

constexpr const char* kNotAllKnown = "not every GPU reported it";

void fill_unknown_users(ResourceUsage& usage, const GpusUsage& gpus) {
  std::vector<std::string> keys;
  if (!gpus.peak_main_bytes) keys.emplace_back("max_gpu_ram.main");
  if (!gpus.peak_descendants_bytes) keys.emplace_back("max_gpu_ram.descendants");
  if (!gpus.peak_combined_bytes) keys.emplace_back("max_gpu_ram.combined");
  if (keys.empty()) return;
  std::string reason = "it is unknown which processes used the GPUs, or how much of their memory";
  const auto refused = std::ranges::find_if(
      gpus.gpus, [](const GpuUsage& gpu) { return !gpu.used_by_command_unknown.empty(); });
  if (refused != gpus.gpus.end()) reason += ": " + refused->used_by_command_unknown;
  usage.unknown.push_back({std::move(keys), reason});
}

/// The values known of all of them if some were refused.
GpusUsage without_partial_sums(GpusUsage gpus) {
  gpus.memory_total_bytes.reset();
  gpus.peak_memory_used_bytes.reset();
  gpus.peak_main_bytes.reset();
  gpus.peak_descendants_bytes.reset();
  gpus.peak_combined_bytes.reset();
  if (gpus.wants_refused) {
    gpus.max_sum_percent.reset();
    gpus.mean_sum_percent.reset();
  }
  return gpus;
}

void fill_unknown_sums(ResourceUsage& usage, const GpusUsage& gpus) {
  std::vector<std::string> keys = {"max_gpu_ram"};
  if (gpus.wants_refused) keys.emplace_back("gpu_utilization.gpu_percentages");
  usage.unknown.push_back(
      {std::move(keys), fmt::format("{} of {} GPUs cannot be read, and sums are of all or of none: "
                                    "see wattle doctor",
                                    gpus.refused, gpus.refused + gpus.included)});
}

}  // namespace

void fill_gpu_groups(ResourceUsage& usage, const GpusUsage& all,
                     std::optional<unsigned> on_machine) {
  const GpusUsage gpus = all.refused > 0 ? without_partial_sums(all) : all;
  const double unit = bytes_in(usage.max_gpu_ram.unit, "GPU RAM");
  const auto in_unit = [&](const std::optional<std::uint64_t>& bytes) {
    return bytes ? std::optional(static_cast<double>(*bytes) / unit) : std::nullopt;
  };
  usage.max_gpu_ram.system_capacity = in_unit(gpus.memory_total_bytes);
  usage.max_gpu_ram.system = in_unit(gpus.peak_memory_used_bytes);
  usage.max_gpu_ram.main = in_unit(gpus.peak_main_bytes);
  usage.max_gpu_ram.descendants = in_unit(gpus.peak_descendants_bytes);
  usage.max_gpu_ram.combined = in_unit(gpus.peak_combined_bytes);
  usage.gpu_utilization.system_gpu_count = on_machine;
  if (!on_machine) {
    usage.unknown.push_back({{"gpu_utilization.system_gpu_count"},
                             "not every vendor's GPUs can be listed: see wattle doctor"});
  }
  usage.gpu_utilization.n_expected_gpus = gpus.counted;
  usage.gpu_utilization.gpu_percentages =
      percentages_of(gpus.max_sum_percent, gpus.mean_sum_percent, gpus.counted);
  if (gpus.refused > 0) {
    fill_unknown_sums(usage, gpus);
    if (!gpus.wants_refused && !gpus.mean_sum_percent) {
      usage.unknown.push_back({{"gpu_utilization.gpu_percentages"}, kNotAllKnown});
    }
    return;
  }
  if (gpus.included == 0) {
    usage.unknown.push_back({{"max_gpu_ram", "gpu_utilization.gpu_percentages"},
                             "no GPU was found that this version reads"});
    return;
  }
  std::vector<std::string> keys;
  if (!gpus.memory_total_bytes) keys.emplace_back("max_gpu_ram.system_capacity");
  if (!gpus.peak_memory_used_bytes) keys.emplace_back("max_gpu_ram.system");
  if (!keys.empty()) usage.unknown.push_back({std::move(keys), kNotAllKnown});
  if (!gpus.mean_sum_percent) {
    usage.unknown.push_back({{"gpu_utilization.gpu_percentages"},
                             gpus.utilization_gap.empty() ? kNotAllKnown : gpus.utilization_gap});
  }
  usage.mechanisms.push_back(
      {{"gpu_utilization.gpu_percentages"},
       "the drivers' utilization, read at most ten times a second: means over time, the largest of "
       "the values seen; misses what comes and goes between two readings; of NVIDIA GPUs the mean "
       "is that of the driver's own samples, which miss nothing"});
  usage.mechanisms.push_back(
      {{"max_gpu_ram"},
       "what the drivers list as used, and by which process; misses peaks between two readings"});
  fill_unknown_users(usage, gpus);
}

}  // namespace wattle
