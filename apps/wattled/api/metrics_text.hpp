// Metrics in the formats of a scrape: Prometheus' text format 0.0.4, OpenMetrics 1.0, and
// Prometheus' protobuf format, the only one with native histograms.
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

/// How many values were in which bucket of a native histogram: its bounds are powers of
/// 2^(2^-schema).
struct NativeHistogram {
  int schema = 0;          ///< -4 to 8
  std::uint64_t none = 0;  ///< values of 0 or less
  /// The bucket at place i has the values of at most that power with the exponent `first` + i, and
  /// more than that with an exponent one less.
  int first = 0;
  std::vector<std::uint64_t> counts{};
};

struct MetricSample {
  std::vector<Label> labels;
  double value = 1;
  /// Counters and histograms only: the Unix time at which it was 0; absent: unknown.
  std::optional<double> created_unix_s{};
  /// Histograms only: in the order of their bounds, without the one of infinity, and all values.
  std::vector<MetricBucket> buckets{};
  std::uint64_t count = 0;
  std::optional<NativeHistogram> native{};  ///< the same values, if it is to be one
};

/// One metric and its samples. A family without samples is not written.
struct MetricFamily {
  std::string_view name;    ///< without the endings `_total`, `_info`, `_created`
  std::string_view help;    ///< one sentence
  std::string_view unit{};  ///< the last word of the name; empty: no unit
  MetricKind kind = MetricKind::gauge;
  std::vector<MetricSample> samples{};
};

enum class MetricsFormat : std::uint8_t { prometheus, open_metrics, protobuf };

/// The format that an `Accept` header prefers; `prometheus` for an empty or any other header.
[[nodiscard]] MetricsFormat metrics_format(std::string_view accept) noexcept;

/// The `Content-Type` of the answer.
[[nodiscard]] std::string_view content_type_of(MetricsFormat format) noexcept;

/// The name of a family in Prometheus' formats, and its times of creation.
[[nodiscard]] std::string prometheus_name(const MetricFamily& family);
[[nodiscard]] std::string created_help(const MetricFamily& family);

/// The families in a format. Threads: any.
[[nodiscard]] std::string metrics_text(std::span<const MetricFamily> families,
                                       MetricsFormat format);
/// The same in the format `protobuf`: messages MetricFamily, each with its length in front.
[[nodiscard]] std::string metrics_protobuf(std::span<const MetricFamily> families);

}  // namespace wattle::daemon
