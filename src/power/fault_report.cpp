#include "power/fault_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/log.hpp"

namespace wattle {

FaultReport::FaultReport(std::vector<std::shared_ptr<const WatchedSensor>> sensors) {
  for (auto& sensor : sensors) gpus_.push_back({.sensor = std::move(sensor)});
}

void FaultReport::tell() {
  for (Gpu& gpu : gpus_) {
    tell_presence(gpu);
    for (const PowerDomain domain : kPowerDomains) tell_domain(gpu, domain);
  }
}

void FaultReport::tell_presence(Gpu& gpu) {
  const bool is_gone = gpu.sensor->is_gone();
  if (is_gone == gpu.is_gone) return;
  gpu.is_gone = is_gone;
  log(fmt::format("power monitor: GPU {} {}", gpu_index_of(*gpu.sensor),
                  is_gone ? "is lost; it is looked for again" : "is back"));
}

void FaultReport::tell_domain(Gpu& gpu, PowerDomain domain) {
  const WatchedSensor::Counts counts = gpu.sensor->counts(domain);
  Told& told = gpu.told.at(place_of(domain));
  const std::uint32_t index = gpu_index_of(*gpu.sensor);
  const std::uint64_t round = counts.failed - counts.failed % kFailuresToTell;
  if (round > told.failed) {
    told.failed = round;
    log(fmt::format(
        "power monitor: {2} readings of GPU {0} gave no {1} so far: the driver fails, or says that "
        "this is not supported",
        index, to_string(domain), round));
  }
  if (counts.zeros > told.zeros) {
    told.zeros = counts.zeros;
    log(fmt::format(
        "power monitor: GPU {} showed a {} of 0 W between two values above 0 W, {} times so far: "
        "kept, and flagged zero",
        index, to_string(domain), counts.zeros));
  }
}

}  // namespace wattle
