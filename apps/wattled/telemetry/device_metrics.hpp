// The metrics of the daemon under the names of OpenTelemetry's conventions for hardware, where
// these have one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/metrics.hpp"
#include "otlp/otlp_values.hpp"

namespace wattle::daemon {

/// Makes counters that started before this daemon, at an unknown time, start with it; and again
/// where one falls. Threads: one at a time.
class CounterStarts {
 public:
  struct Counted {
    double joules = 0.0;
    otlp::UnixNs since = 0;
  };
  [[nodiscard]] Counted of(const std::string& domain, double joules, otlp::UnixNs at);

 private:
  struct CounterStart {
    double first_j = 0.0;
    double last_j = 0.0;
    otlp::UnixNs since = 0;
    otlp::UnixNs last_at = 0;
  };
  std::map<std::string, CounterStart> starts_;
};

/// The metrics of all devices at `at`.
[[nodiscard]] std::vector<otlp::OtlpMetric> otlp_metrics_of(const DaemonMetrics& metrics,
                                                            otlp::UnixNs at, CounterStarts& starts);

}  // namespace wattle::daemon
