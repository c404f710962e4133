// --otlp: what a run cost, as metrics and spans for an OpenTelemetry collector.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "otlp/otlp_post.hpp"
#include "otlp/otlp_target.hpp"
#include "otlp/otlp_values.hpp"
#include "report/report.hpp"
#include "wattle/work_units.hpp"

namespace wattle::app {

/// The run in its trace.
struct RunTrace {
  TraceContext own;                ///< of the run's span: what lies in the run has it as its parent
  std::optional<SpanId> parent{};  ///< of who started wattle (TRACEPARENT)
};
/// With new numbers; in the trace of TRACEPARENT, if it has a valid one.
[[nodiscard]] RunTrace make_run_trace(const Environment& environment);

/// Energy of the run, its domains and phases; time.
[[nodiscard]] std::vector<otlp::OtlpMetric> run_metrics(const Report& report);
/// The run, and its phases.
[[nodiscard]] std::vector<otlp::OtlpSpan> run_spans(const Report& report, const RunTrace& trace);

/// Threads: one at a time.
class RunTelemetry {
 public:
  static constexpr std::size_t kMostSpans = 10'000;
  /// Nobody waits longer for the end of a run.
  static constexpr std::chrono::seconds kPatience{5};

  RunTelemetry(otlp::OtlpTarget target, const Environment& environment);

  /// A unit of work whose energy is final.
  void add(const UnitEnergy& unit, const std::string& id);
  /// Sends everything, within `kPatience`. Returns what was lost, and why, as a sentence; empty:
  /// nothing was.
  [[nodiscard]] std::string send(const Report& report);
  /// The same through `post`.
  [[nodiscard]] std::string send(const Report& report, otlp::OtlpPost& post);

 private:
  otlp::OtlpTarget target_;
  Environment environment_;
  RunTrace trace_;
  std::vector<otlp::OtlpSpan> units_;
  std::uint64_t dropped_ = 0;
};

}  // namespace wattle::app
