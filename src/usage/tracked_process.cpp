#include "usage/tracked_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text/text.hpp"
#include "sensors/gpu_selection.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/gpu/gpu_brand.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Throws for an option out of its range.
void check(const TrackerOptions& options) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 86400.0;
  const double period_s = Seconds(options.sleep_time).count();
  if (period_s < kShortestS || period_s > kLongestS) {
    throw InvalidArgument(fmt::format("a sleep time of {} s is invalid: it must be from {} to {} s",
                                      period_s, kShortestS, kLongestS));
  }
  if (options.n_expected_cores == 0U) {
    throw InvalidArgument("0 expected cores are invalid: there must be at least 1");
  }
  const auto& brand = options.gpu_brand;
  if (brand && *brand != "nvidia" && *brand != "amd" && *brand != "intel") {
    throw InvalidArgument(fmt::format(
        "\"{}\" is not a valid GPU brand. Valid values are amd, intel, nvidia", printable(*brand)));
  }
  (void)bytes_in(options.ram_unit, "RAM");
  (void)bytes_in(options.gpu_ram_unit, "GPU RAM");
}

bool is_gpu_lane(const Sensor& sensor) {
  return sensor.may_block() && sensor.device() != nullptr && is_gpu(sensor);
}

/// Its counters answer at once.
bool is_of_processors(const Sensor& sensor) {
  return !sensor.may_block() && kProcessorKinds.contains(sensor.channels().front().domain.kind());
}

/// The GPUs of a brand; their utilization is summed over those that are selected.
ObservedGpus observed_gpus(const TrackerOptions& options, const Survey& found) {
  ObservedGpus gpus{.members = gpus_of_brand(gpus_found(found), found.refused, options.gpu_brand)};
  if (knows_all_gpus(found.refused)) gpus.on_machine = static_cast<unsigned>(gpus.members.size());
  std::vector<FoundGpu> of_brand = found_gpus(found);
  std::erase_if(of_brand, [&](const FoundGpu& gpu) { return !gpus.members.contains(gpu.domain); });
  const std::vector<Domain> selected = selected_gpus(options.gpus, of_brand, "cannot track");
  if (!resolved(options.gpus).is_all()) gpus.counted.emplace(selected.begin(), selected.end());
  return gpus;
}

}  // namespace

UsageObservation observe_process(const TrackerOptions& options, const TimeSource& clock,
                                 std::size_t usage_file_bytes) {
  check(options);
  const pid_t root = options.process_id.value_or(::getpid());
  // Throws now, not at the start, where there is no such process.
  const std::uint64_t start_time =
      TreeReader(options.system, clock, root, {.most_kept_files = 0}).root_start_time();
  (void)seconds_in(options.time_unit);  // throws for an unknown one
  Survey found = with_kept_updates(survey(options.system, clock, kProcessorAndGpuKinds));
  ObservedGpus gpus = observed_gpus(options, found);
  std::erase_if(found.sensors, [](const std::unique_ptr<Sensor>& sensor) {
    return !is_gpu_lane(*sensor) && !is_of_processors(*sensor);
  });
  (void)take_absent(found.refused);
  // More often there is nothing new.
  const nanoseconds period = std::max<nanoseconds>(options.sleep_time, milliseconds(100));
  UsageObservationOptions observed{
      .system = options.system, .root = root, .processes = options.system, .needs_tree = true};
  observed.tree.pss = options.force_pss ? PssPolicy::force : PssPolicy::budget;
  observed.tree.start_time = start_time;
  observed.readings = GpuMonitor::sampling(period);
  observed.gpus = std::move(gpus);
  observed.refused = std::move(found.refused);
  observed.units = {
      .ram = options.ram_unit, .gpu_ram = options.gpu_ram_unit, .time = options.time_unit};
  observed.expected_cores = options.n_expected_cores;
  observed.has_own_cost = true;
  observed.files =
      std::make_unique<UsageFiles>(UsageFileOptions{.tracking_file = options.tracking_file,
                                                    .usage_file = options.resource_usage_file,
                                                    .overwrite = options.overwrite,
                                                    .logs = !options.disable_logs},
                                   usage_file_bytes);
  return {std::move(found.sensors), clock, std::move(observed)};
}

}  // namespace wattle
