// What /metrics tells: the daemon's figures under Wattle's names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics_text.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {

/// One domain of one device at the time of a scrape; what is absent is not known. Threads: a value
/// type.
struct DomainMetrics {
  std::string domain;  ///< "package_0", "dram_0", "nvidia_gpu_0"
  std::string device;  ///< stable id: PCI address, UUID, "cpu:0"
  std::string vendor;  ///< "nvidia", "amd", "intel"; empty: not known
  std::string source;  ///< the provider: "perf", "powercap", "nvml"
  /// False where its energy is a part of, or overlaps, that of another domain. The daemon serves
  /// packages, their memory and GPUs: all of them are true.
  bool additive = true;
  bool up = false;       ///< the last reading succeeded, and a counter moves
  std::string reason{};  ///< why its energy or power is not known; empty: nothing to say
  std::optional<double> energy_j{};  ///< unwrapped, since `created_unix_s`
  std::optional<double> created_unix_s{};
  std::optional<double> power_w{};  ///< see `MeanPower`; or a gauge's value
  std::optional<double> power_limit_w{};
  std::optional<double> utilization_ratio{};  ///< 0 to 1
  std::optional<double> memory_used_bytes{};
  std::optional<double> temperature_celsius{};
  std::optional<double> last_success_unix_s{};
  /// How often the counter restarted. Absent: nobody counts it, as for the raw counters of GPUs.
  std::optional<std::uint64_t> resets{};
};

/// Why something cannot be read.
struct RefusalMetrics {
  std::string source;
  std::string device;  ///< empty: all of the source
  std::string reason;
};

/// How often something happened for a reason.
struct ReasonMetrics {
  std::string reason;
  std::uint64_t count = 0;
};

struct DaemonMetrics {
  std::string version;
  double started_unix_s = 0;
  std::vector<DomainMetrics> domains;
  std::vector<RefusalMetrics> refused;
  std::vector<ReasonMetrics> dropped;        ///< samples: "slow_reader"
  std::vector<ReasonMetrics> turned_away{};  ///< clients: "full", "client", "token", "unread"
};

/// For `metrics_text`.
[[nodiscard]] std::vector<MetricFamily> families_of(const DaemonMetrics& metrics);

/// The mean power of one counter since a scrape at least `kMinWindow` earlier: scrapers that come
/// shortly after each other share a window, and scraping often shows no finer detail. Threads: the
/// caller's own.
class MeanPower {
 public:
  static constexpr Seconds kMinWindow{1.0};

  /// Watts, where the counter is at `energy_j` at `time`, not before the last time; absent at
  /// the first scrapes. What was used across one of the counter's `losses` is not known: the scrape
  /// after one is again a first one.
  [[nodiscard]] std::optional<double> at(TimePoint time, double energy_j, std::uint64_t losses);
  /// The counter has restarted since a scrape.
  [[nodiscard]] bool has_restarted() const noexcept { return has_restarted_; }

 private:
  struct Mark {
    TimePoint time;
    double energy_j = 0;
  };
  std::uint64_t losses_ = 0;
  bool has_restarted_ = false;
  std::optional<Mark> base_;  ///< the window begins here
  std::optional<Mark> next_;  ///< becomes the base once it is old enough
};

}  // namespace wattle::daemon
