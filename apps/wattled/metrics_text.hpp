// Metrics as Prometheus reads them: its text format 0.0.4, and OpenMetrics 1.0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wattle::daemon {

enum class MetricKind : std::uint8_t {
  counter,  ///< only grows, from its creation on
  gauge,
  info,  ///< facts in labels; the value is 1
};

/// A name and a value; the value may hold anything.
using Label = std::pair<std::string_view, std::string>;

struct MetricSample {
  std::vector<Label> labels;
  double value = 1;
  /// Counters only: Unix time at which it began at 0; absent where that is unknown.
  std::optional<double> created_unix_s{};
};

/// One metric: what it is, and a sample for each thing it is known of. Without samples, nothing is
/// written.
struct MetricFamily {
  std::string_view name;  ///< without the endings `_total`, `_info`, `_created`
  std::string_view help;  ///< one sentence
  std::string_view unit;  ///< the last word of the name, or empty: no unit
  MetricKind kind = MetricKind::gauge;
  std::vector<MetricSample> samples;
};

enum class MetricsFormat : std::uint8_t { prometheus, open_metrics };

/// Which one the `Accept` header of a request asks for (absent or anything else: prometheus).
[[nodiscard]] MetricsFormat metrics_format(std::string_view accept) noexcept;

/// The value for the `Content-Type` header of the answer.
[[nodiscard]] std::string_view content_type_of(MetricsFormat format) noexcept;

/// The text of these families. Threads: any.
[[nodiscard]] std::string metrics_text(std::span<const MetricFamily> families,
                                       MetricsFormat format);

}  // namespace wattle::daemon
