#include "power/watched_sensor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"

namespace wattle {

void WatchedSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  ForwardingSensor::read_some(wanted, readings);
  const std::span<const Channel> channels = channels_;
  bool is_there = false;
  bool is_gone = false;
  for (std::size_t i = 0; i < std::min(channels.size(), wanted.size()); ++i) {
    if (!wanted[i]) continue;
    is_gone = is_gone || readings[i].status == ReadStatus::gone;
    is_there = is_there || readings[i].status != ReadStatus::gone;
    const auto domain = power_domain_of(channels[i]);
    if (domain) note(watches_[place_of(*domain)], readings[i], channels[i].update.mean);
  }
  if (is_gone || is_there) gone_.store(is_gone, std::memory_order_relaxed);
}

void WatchedSensor::note(ChannelWatch& watch, const Reading& reading,
                         std::chrono::nanoseconds update) noexcept {
  if (reading.status == ReadStatus::retry) watch.failed.fetch_add(1, std::memory_order_relaxed);
  if (reading.status != ReadStatus::ok) return;
  if (reading.raw == 0) {
    if (watch.was_above) watch.zero_since = reading.at;
    // A sensor that is read more often than it is renewed shows one value several times.
    const bool is_repeated = watch.is_zero && reading.at - watch.zero_since <= update + update / 4;
    watch.is_zero = watch.was_above || is_repeated;
    watch.was_above = false;
    return;
  }
  if (watch.is_zero) watch.zeros.fetch_add(1, std::memory_order_relaxed);
  watch.is_zero = false;
  watch.was_above = true;
}

WatchedSensor::Counts WatchedSensor::counts(PowerDomain domain) const noexcept {
  const ChannelWatch& watch = watches_[place_of(domain)];
  return {.failed = watch.failed.load(std::memory_order_relaxed),
          .zeros = watch.zeros.load(std::memory_order_relaxed)};
}

FaultReport::FaultReport(const std::vector<NamedGpu>& sensors) {
  for (const NamedGpu& gpu : sensors) gpus_.push_back({.monitored = gpu});
}

void FaultReport::report() {
  for (ReportedGpu& gpu : gpus_) {
    report_presence(gpu);
    for (const PowerDomain domain : kPowerDomains) report_domain(gpu, domain);
  }
}

void FaultReport::report_presence(ReportedGpu& gpu) {
  const bool is_gone = gpu.monitored.sensor->is_gone();
  if (is_gone == gpu.is_gone) return;
  gpu.is_gone = is_gone;
  log(fmt::format("power monitor: {} {}", gpu.monitored.gpu, is_gone ? "is lost" : "is back"));
}

void FaultReport::report_domain(ReportedGpu& gpu, PowerDomain domain) {
  const WatchedSensor::Counts counts = gpu.monitored.sensor->counts(domain);
  Reported& reported = gpu.reported.at(place_of(domain));
  const std::uint64_t round = counts.failed - counts.failed % kFailuresPerReport;
  if (round > reported.failed) {
    reported.failed = round;
    log(fmt::format(
        "power monitor: {2} readings of {0} gave no {1} so far: the driver fails, or reports that "
        "this is not supported",
        gpu.monitored.gpu, to_string(domain), round));
  }
  if (counts.zeros > reported.zeros) {
    reported.zeros = counts.zeros;
    log(fmt::format(
        "power monitor: {} showed a {} of 0 W between two values above 0 W, {} times so far: "
        "kept, and flagged zero",
        gpu.monitored.gpu, to_string(domain), counts.zeros));
  }
}

}  // namespace wattle
