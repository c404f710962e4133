// The metrics of the daemon, under Wattle's names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/metrics_text.hpp"
#include "wattle/clock.hpp"
#include "wattle/work_units.hpp"

namespace wattle::daemon {

/// The identity of a device. Empty: unknown.
struct DeviceFacts {
  std::string model{};
  std::string uuid{};  ///< or whatever else names the device for good
  std::string pci_address{};
  std::string driver{};  ///< its version
};

/// One domain of one device at the time of a scrape; absent values are unknown. Threads: a value
/// type.
struct DomainMetrics {
  std::string domain;  ///< "package_0", "dram_0", "nvidia_gpu_0"
  std::string device;  ///< stable id: PCI address, UUID, "cpu:0"
  std::string vendor;  ///< "nvidia", "amd", "intel"; empty: not known
  std::string source;  ///< the provider: "perf", "powercap", "nvml"
  /// False if its energy overlaps that of another domain. True for packages, DRAM and GPUs.
  bool additive = true;
  bool up = false;       ///< the last read succeeded, and the counter moves
  std::string reason{};  ///< why its energy or power is unknown; empty: no reason given
  DeviceFacts info{};
  std::string energy_source{};       ///< of `energy_j`: "integrated"; empty: as `source`
  std::optional<double> energy_j{};  ///< unwrapped, since `created_unix_s`
  std::optional<double> created_unix_s{};
  std::optional<double> energy_uncertainty_j{};  ///< k = 2
  std::optional<double> energy_unknown_s{};      ///< time that is not in `energy_j`
  /// Part of the time that the sensor of power samples.
  std::optional<double> coverage_ratio{};
  std::optional<double> power_w{};  ///< see `PowerSinceScrape`; or a gauge's value
  std::optional<double> power_limit_w{};
  std::optional<double> utilization_ratio{};  ///< 0 to 1
  std::optional<double> memory_used_bytes{};
  std::optional<double> memory_total_bytes{};
  std::optional<double> clock_hz{};
  std::optional<double> memory_clock_hz{};
  std::optional<double> temperature_celsius{};
  std::optional<double> last_success_unix_s{};
  /// How often the counter restarted. Absent: not counted, as for the raw counters of GPUs.
  std::optional<std::uint64_t> resets{};
};

/// Why something cannot be read.
struct RefusalMetrics {
  std::string source;
  std::string device;  ///< empty: all of the source
  std::string reason;
};

/// The number of events with one reason.
struct ReasonMetrics {
  std::string reason;
  std::uint64_t count = 0;
};

/// The cost of the daemon itself. Absent: unknown.
struct OwnCost {
  std::optional<double> cpu_s{};
  std::optional<double> resident_bytes{};
};

/// Units of work that were started by requests.
struct UnitMetrics {
  UnitsReport report{};
  double since_unix_s = 0;  ///< when the first one started
  std::uint64_t timed_out = 0;
};

struct DaemonMetrics {
  std::string version;
  double started_unix_s = 0;
  OwnCost own{};
  std::vector<DomainMetrics> domains;
  std::vector<RefusalMetrics> refused{};
  std::vector<ReasonMetrics> dropped{};      ///< samples: "slow_reader"
  std::vector<ReasonMetrics> turned_away{};  ///< clients: "full", "client", "token", "unread"
  std::optional<UnitMetrics> units{};        ///< absent: none, or not for this caller
};

/// A tag of units of work, over all of its phases, under the name that is served.
struct ServedTag {
  std::string name;  ///< safe to print
  const UnitTag* tag = nullptr;
};
/// At most 64 tags, each of another name: more would be a series per request of a program that
/// names them so. They refer to `report`.
[[nodiscard]] std::vector<ServedTag> served_tags(const UnitsReport& report);

/// For `metrics_text`.
[[nodiscard]] std::vector<MetricFamily> families_of(const DaemonMetrics& metrics);

/// The mean power of one counter since a scrape at least `kMinWindow` ago. Scrapes in quick
/// succession share a window, so scraping often shows no finer detail. Not thread-safe.
class PowerSinceScrape {
 public:
  static constexpr Seconds kMinWindow{1.0};

  /// The power in W. `energy_j`: the counter at `time`; `time` must not decrease. Absent at the
  /// first scrapes, and at the first ones after `losses` changed or the counter fell: the energy
  /// across that is unknown.
  [[nodiscard]] std::optional<double> at(TimePoint time, double energy_j, std::uint64_t losses);
  /// True if the counter restarted since a scrape.
  [[nodiscard]] bool has_restarted() const noexcept { return has_restarted_; }

 private:
  struct CounterMark {
    TimePoint time;
    double energy_j = 0;
  };
  std::uint64_t losses_ = 0;
  bool has_restarted_ = false;
  std::optional<CounterMark> base_;  ///< the start of the window
  std::optional<CounterMark> next_;  ///< becomes the base once it is old enough
};

}  // namespace wattle::daemon
