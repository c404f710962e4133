// --otlp: what the daemon measures, pushed to a collector.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http/loop.hpp"
#include "http/pace.hpp"
#include "otlp/otlp_exporter.hpp"
#include "serve/service.hpp"
#include "telemetry/device_metrics.hpp"

namespace wattle::daemon {

struct TelemetryOptions {
  otlp::OtlpTarget target;
  otlp::OtlpAttributes resource;
  std::chrono::seconds interval{10};
  std::string spool;  ///< empty: what waits is kept in memory
  std::uint32_t spool_mib = 64;
};

/// Metrics of all domains at each interval, and a span for each unit of work that has ended. Reads
/// and encodes in the loop's thread, and sends in one of its own. Threads: the loop's.
class Telemetry {
 public:
  /// Spans between two intervals; further ones are dropped, and that is logged.
  static constexpr std::size_t kMostSpans = 10'000;

  /// `service` outlives it. Throws `Error` for a spool that cannot be used.
  Telemetry(Service& service, TelemetryOptions options);
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  /// Sends what is left for at most a second.
  ~Telemetry();

 private:
  void tick();
  void add_span(const UnitEnergy& unit, const std::string& id);
  void send_spans();

  Service& service_;
  TelemetryOptions options_;
  CounterStarts starts_;
  std::vector<otlp::OtlpSpan> spans_;
  std::uint64_t dropped_spans_ = 0;
  std::shared_ptr<bool> is_gathering_ = std::make_shared<bool>(false);
  otlp::OtlpExporter exporter_;
  Pace pace_;
};

}  // namespace wattle::daemon
