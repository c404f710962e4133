// Prometheus' messages: https://github.com/prometheus/client_model,
// io/prometheus/client/metrics.proto.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "api/metrics_text.hpp"
#include "api/protobuf.hpp"
#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

// The fields that are written, by message, and the values of MetricType.
namespace family_field {
constexpr unsigned kName = 1;
constexpr unsigned kHelp = 2;
constexpr unsigned kType = 3;
constexpr unsigned kMetric = 4;
}  // namespace family_field
namespace metric_field {
constexpr unsigned kLabel = 1;
constexpr unsigned kGauge = 2;
constexpr unsigned kCounter = 3;
constexpr unsigned kHistogram = 7;
}  // namespace metric_field
namespace histogram_field {
constexpr unsigned kCount = 1;
constexpr unsigned kSum = 2;
constexpr unsigned kBucket = 3;
constexpr unsigned kSchema = 5;
constexpr unsigned kZeroThreshold = 6;
constexpr unsigned kZeroCount = 7;
constexpr unsigned kPositiveSpan = 12;
constexpr unsigned kPositiveDelta = 13;
}  // namespace histogram_field
enum class MetricType : std::uint8_t { counter = 0, gauge = 1, histogram = 4 };

MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
    case MetricKind::bare_counter:
      return MetricType::counter;
    case MetricKind::histogram:
      return MetricType::histogram;
    case MetricKind::gauge:
    case MetricKind::info:
      break;
  }
  return MetricType::gauge;
}

/// A message with two fields, 1 and 2.
ProtobufMessage label_message(const Label& label) {
  ProtobufMessage message;
  message.add_bytes(1, label.first);
  message.add_bytes(2, valid_utf8(label.second));
  return message;
}

/// The counts in one span from the first bucket on: each is the difference from the one before.
void add_native(const NativeHistogram& native, ProtobufMessage& histogram) {
  // The least that Prometheus' own clients have.
  constexpr double kZeroThreshold = 0x1p-128;
  histogram.add_signed(histogram_field::kSchema, native.schema);
  histogram.add_real(histogram_field::kZeroThreshold, kZeroThreshold);
  histogram.add_number(histogram_field::kZeroCount, native.none);
  if (native.counts.empty()) return;
  ProtobufMessage span;
  span.add_signed(1, native.first);
  span.add_number(2, native.counts.size());
  histogram.add(histogram_field::kPositiveSpan, span);
  std::vector<std::int64_t> deltas;
  deltas.reserve(native.counts.size());
  std::int64_t before = 0;
  for (const std::uint64_t count : native.counts) {
    deltas.push_back(static_cast<std::int64_t>(count) - before);
    before = static_cast<std::int64_t>(count);
  }
  histogram.add_packed(histogram_field::kPositiveDelta, deltas);
}

ProtobufMessage histogram_message(const MetricSample& sample) {
  ProtobufMessage histogram;
  histogram.add_number(histogram_field::kCount, sample.count);
  histogram.add_real(histogram_field::kSum, sample.value);
  for (const MetricBucket& bucket : sample.buckets) {
    ProtobufMessage message;
    message.add_number(1, bucket.count);
    message.add_real(2, bucket.up_to);
    histogram.add(histogram_field::kBucket, message);
  }
  if (sample.native) add_native(*sample.native, histogram);
  return histogram;
}

/// A message whose field 1 is the value: a gauge or a counter.
ProtobufMessage value_message(double value) {
  ProtobufMessage message;
  message.add_real(1, value);
  return message;
}

ProtobufMessage metric_message(const std::vector<Label>& labels) {
  ProtobufMessage metric;
  for (const Label& label : labels) metric.add(metric_field::kLabel, label_message(label));
  return metric;
}

ProtobufMessage family_message(std::string_view name, std::string_view help, MetricType type) {
  ProtobufMessage family;
  family.add_bytes(family_field::kName, name);
  family.add_bytes(family_field::kHelp, help);
  family.add_number(family_field::kType, static_cast<std::uint64_t>(type));
  return family;
}

ProtobufMessage samples_message(const MetricFamily& family) {
  const MetricType type = type_of(family.kind);
  ProtobufMessage message = family_message(prometheus_name(family), family.help, type);
  for (const MetricSample& sample : family.samples) {
    ProtobufMessage metric = metric_message(sample.labels);
    if (type == MetricType::histogram) {
      metric.add(metric_field::kHistogram, histogram_message(sample));
    } else {
      metric.add(type == MetricType::counter ? metric_field::kCounter : metric_field::kGauge,
                 value_message(sample.value));
    }
    message.add(family_field::kMetric, metric);
  }
  return message;
}

}  // namespace

/// Every name is its own family, as in the text format.
std::string metrics_protobuf(std::span<const MetricFamily> families) {
  ProtobufMessage stream;
  for (const MetricFamily& family : families) {
    if (family.samples.empty()) continue;
    stream.append_delimited(samples_message(family));
    ProtobufMessage created = family_message(fmt::format("{}_created", family.name),
                                             created_help(family), MetricType::gauge);
    bool is_any = false;
    for (const MetricSample& sample : family.samples) {
      if (!sample.created_unix_s) continue;
      ProtobufMessage metric = metric_message(sample.labels);
      metric.add(metric_field::kGauge, value_message(*sample.created_unix_s));
      created.add(family_field::kMetric, metric);
      is_any = true;
    }
    if (is_any) stream.append_delimited(created);
  }
  return stream.bytes();
}

}  // namespace wattle::daemon
