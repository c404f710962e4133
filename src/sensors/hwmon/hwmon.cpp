#include "sensors/hwmon/hwmon.hpp"

#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/call_with_deadline.hpp"
#include "sensors/hwmon/device.hpp"
#include "sensors/hwmon/diagnosis.hpp"

namespace wattle::hwmon {

Survey probe_within(const System& system, const Clock& clock, std::chrono::nanoseconds deadline,
                    const std::function<Opened(const Device&)>& open) {
  Devices found = find_devices(system);
  Survey survey;
  survey.refused = std::move(found.refused);
  const std::vector<Device>& devices = found.devices;
  if (devices.empty() && survey.refused.empty()) survey.refused.push_back(nothing_found(system));
  std::vector<std::optional<Opened>> opened = call_with_deadline<Opened>(
      devices.size(), deadline,
      [devices, open](std::size_t i, const auto&) { return open(devices[i]); });
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!opened[i]) {
      survey.refused.push_back(no_answer(devices[i], deadline));
      continue;
    }
    std::ranges::move(opened[i]->refused, std::back_inserter(survey.refused));
    if (opened[i]->channels.empty()) continue;
    survey.sensors.push_back(std::make_unique<ChipSensor>(*std::move(opened[i]), clock));
  }
  return survey;
}

Survey probe(const System& system, const Clock& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::hwmon
