#include "power/fault_report.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace wattle {

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
