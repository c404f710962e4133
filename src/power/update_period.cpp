#include "power/update_period.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "base/call_with_deadline.hpp"
#include "base/log.hpp"
#include "sampling/history.hpp"
#include "sampling/update_observer.hpp"
#include "sensors/gpu_selection.hpp"
#include "sensors/providers.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The longest period.
constexpr nanoseconds kLongestGuess = milliseconds(100);

/// Fewer changes show how the load changed once, not how often the power is renewed.
constexpr std::uint64_t kFewestChanges = 4;

/// The fastest of the GPU's power domains.
ModelPace pace_of(const std::vector<Observation>& channels) {
  ModelPace pace;
  for (const Observation& seen : channels) {
    pace.updates.push_back(seen.doubt == PeriodDoubt::none ? seen.interval : UpdateInterval{});
    pace.gives_power = pace.gives_power || seen.readings > 0;
    if (!seen.median || seen.changes < kFewestChanges) continue;
    pace.gap = std::min(pace.gap.value_or(*seen.median), *seen.median);
  }
  return pace;
}

/// Shorter than any update interval: no power sensor is known that is renewed more often than every
/// 10 ms.
constexpr nanoseconds kPause = milliseconds(1);

std::string model_of(const Sensor& sensor) {
  const DeviceInfo* const info = sensor.device();
  return info == nullptr ? "" : info->model;
}

std::vector<Selection::SelectedGpu> one_of_each_model(
    const std::vector<Selection::SelectedGpu>& gpus) {
  std::vector<Selection::SelectedGpu> chosen;
  std::set<std::string> models;
  std::ranges::copy_if(gpus, std::back_inserter(chosen), [&](const Selection::SelectedGpu& gpu) {
    return gpu.channels.any() && models.insert(model_of(*gpu.sensor)).second;
  });
  return chosen;
}

}  // namespace

nanoseconds period_for(const std::vector<ModelPace>& models) {
  std::optional<nanoseconds> fastest;
  for (const ModelPace& model : models) {
    if (!model.gives_power) continue;
    const nanoseconds gap = model.gap.value_or(kAssumedUpdate);
    fastest = std::min(fastest.value_or(gap), gap);
  }
  if (!fastest) return kLongestGuess;
  if (*fastest / 2 > kLongestGuess) {
    log(
        fmt::format("power monitor: power is renewed every {} s here, and read every {} s, which "
                    "is the longest "
                    "period that is chosen by itself; set update_period to read it less often",
                    Seconds(*fastest).count(), Seconds(kLongestGuess).count()));
  }
  return std::clamp<nanoseconds>(*fastest / 2, milliseconds(1), kLongestGuess);
}

std::vector<Channel> InferredPace::channels_of(const Sensor& sensor) const {
  std::vector<Channel> channels(sensor.channels().begin(), sensor.channels().end());
  const auto seen = updates.find(model_of(sensor));
  if (seen == updates.end()) return channels;
  for (std::size_t i = 0; i < std::min(channels.size(), seen->second.size()); ++i) {
    const bool is_gauge = channels[i].metric != Metric::energy;
    if (is_gauge && !channels[i].update.known()) channels[i].update = seen->second[i];
  }
  return channels;
}

InferredPace infer_pace(const std::vector<Selection::SelectedGpu>& gpus, const TimeSource& clock,
                        const PaceSpan& span) {
  const std::vector<Selection::SelectedGpu> chosen = one_of_each_model(gpus);
  const auto pace = [chosen, length = span.length, &clock](std::size_t i, const auto& is_awaited) {
    const Polling polling{.length = length, .pause = kPause};
    return pace_of(observe(*chosen[i].sensor, chosen[i].channels, polling, clock, is_awaited));
  };
  InferredPace inferred;
  std::vector<ModelPace> models;
  for (auto& model : call_with_deadline<ModelPace>(chosen.size(), span.deadline, pace)) {
    const Sensor& sensor = *chosen[models.size()].sensor;
    models.push_back(model.value_or(ModelPace{}));
    inferred.updates.emplace(model_of(sensor), models.back().updates);
  }
  inferred.period = period_for(models);
  return inferred;
}

nanoseconds infer_update_period(const GpuSelection& gpus, const System& system) {
  Survey found = survey(system, machine_clock(), kProcessorAndGpuKinds);
  std::vector<std::shared_ptr<Sensor>> sensors;
  std::ranges::move(found.sensors, std::back_inserter(sensors));
  return infer_pace(select_gpus(sensors, found.refused, resolved(gpus), nullptr, std::nullopt),
                    machine_clock())
      .period;
}

}  // namespace wattle
