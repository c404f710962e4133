#include "sensors/hwmon/hwmon.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "base/call_with_deadline.hpp"
#include "sensors/examination.hpp"
#include "sensors/hwmon/device.hpp"
#include "sensors/hwmon/diagnosis.hpp"

namespace wattle::hwmon {

Survey probe_within(const System& system, const TimeSource& clock,
                    std::chrono::nanoseconds deadline,
                    const std::function<OpenDevice(const HwmonDevice&)>& open) {
  Devices found = find_devices(system);
  Survey survey;
  survey.refused = std::move(found.refused);
  const std::vector<HwmonDevice>& devices = found.devices;
  if (devices.empty() && survey.refused.empty()) survey.refused.push_back(nothing_found(system));
  add_examined(
      survey,
      call_with_deadline<OpenDevice>(
          devices.size(), deadline,
          [devices, open](std::size_t i, const auto&) { return open(devices[i]); }),
      [&](std::size_t i) { return no_answer(devices[i], deadline); },
      [&](OpenDevice device) { return std::make_unique<ChipSensor>(std::move(device), clock); });
  return survey;
}

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::hwmon
