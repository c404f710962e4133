// Metrics as text: Prometheus' text format 0.0.4, and OpenMetrics 1.0.
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
  counter,  ///< never decreases
  gauge,
  info,       ///< facts in labels; the value is 1
  histogram,  ///< how often which values came; the value is their sum
  /// A counter under the name of another program, which has no `_total`.
  bare_counter,
};

/// A name and a value; the value may have any bytes.
using Label = std::pair<std::string_view, std::string>;

/// Omits unknown labels: for Prometheus an empty label does not exist.
[[nodiscard]] std::vector<Label> without_empty(std::vector<Label> labels);

/// How many values were at most `up_to`.
struct MetricBucket {
  double up_to = 0;
  std::uint64_t count = 0;
};

struct MetricSample {
  std::vector<Label> labels;
  double value = 1;
  /// Counters and histograms only: the Unix time at which it was 0; absent: unknown.
  std::optional<double> created_unix_s{};
  /// Histograms only: in the order of their bounds, without the one of infinity, and all values.
  std::vector<MetricBucket> buckets{};
  std::uint64_t count = 0;
};

/// One metric and its samples. A family without samples is not written.
struct MetricFamily {
  std::string_view name;  ///< without the endings `_total`, `_info`, `_created`
  std::string_view help;  ///< one sentence
  std::string_view unit;  ///< the last word of the name; empty: no unit
  MetricKind kind = MetricKind::gauge;
  std::vector<MetricSample> samples;
};

enum class MetricsFormat : std::uint8_t { prometheus, open_metrics };

/// The format that an `Accept` header prefers; `prometheus` for an empty or any other header.
[[nodiscard]] MetricsFormat metrics_format(std::string_view accept) noexcept;

/// The `Content-Type` of the answer.
[[nodiscard]] std::string_view content_type_of(MetricsFormat format) noexcept;

/// The families as text. Threads: any.
[[nodiscard]] std::string metrics_text(std::span<const MetricFamily> families,
                                       MetricsFormat format);

}  // namespace wattle::daemon
