// Reports faults of GPUs to the log.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "power/watched_sensor.hpp"

namespace wattle {

/// A monitored GPU; `gpu` is what messages call it.
struct NamedGpu {
  std::string gpu;
  std::shared_ptr<const WatchedSensor> sensor;
};

/// Logs for each GPU when it is lost and when it is back, power domains that could not be read 11
/// times more, and values of 0 W between two values above it. Threads: one at a time.
class FaultReport {
 public:
  /// Readings of one power domain without a value for each message.
  static constexpr std::uint64_t kFailuresPerReport = 11;

  explicit FaultReport(const std::vector<NamedGpu>& sensors);

  /// Reports what is new: at most one message for each GPU, power domain and cause.
  void report();

 private:
  struct Reported {
    std::uint64_t failed = 0;
    std::uint64_t zeros = 0;
  };
  struct ReportedGpu {
    NamedGpu monitored;
    std::array<Reported, kPowerDomains.size()> reported{};
    bool is_gone = false;
  };
  static void report_presence(ReportedGpu& gpu);
  static void report_domain(ReportedGpu& gpu, PowerDomain domain);

  std::vector<ReportedGpu> gpus_;
};

}  // namespace wattle
