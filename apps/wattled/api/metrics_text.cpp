#include "api/metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/json/enum_table.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

constexpr std::string_view kOpenMetricsType = "application/openmetrics-text";
constexpr std::string_view kProtobufType = "application/vnd.google.protobuf";

template <class... Args>
void append(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : valid_utf8(value)) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

/// {a="b",c="d"}, or nothing.
std::string braced(const std::vector<Label>& labels) {
  if (labels.empty()) return {};
  std::string text = "{";
  for (const auto& [name, value] : labels) {
    append(text, "{}{}=\"{}\"", text.size() > 1 ? "," : "", name, escaped(value));
  }
  return text + '}';
}

/// The bound of a bucket as OpenMetrics wants it: "1.0", not "1".
std::string bound_text(double bound) {
  const std::string text = number(bound);
  return text.find_first_of(".eI") == std::string::npos ? text + ".0" : text;
}

void write_histogram(std::string& text, std::string_view name, const MetricSample& sample) {
  const auto add = [&](double bound, std::uint64_t count) {
    std::vector<Label> labels = sample.labels;
    labels.emplace_back("le", bound_text(bound));
    append(text, "{}_bucket{} {}\n", name, braced(labels), count);
  };
  for (const MetricBucket& bucket : sample.buckets) add(bucket.up_to, bucket.count);
  add(std::numeric_limits<double>::infinity(), sample.count);
  const std::string labels = braced(sample.labels);
  append(text, "{}_sum{} {}\n{}_count{} {}\n", name, labels, number(sample.value), name, labels,
         sample.count);
}

struct KindTexts {
  std::string_view ending;
  std::string_view open_metrics_type;
};
/// Indexed by `MetricKind`.
constexpr std::array<KindTexts, 5> kKindTexts = {{{"_total", "counter"},
                                                  {"", "gauge"},
                                                  {"_info", "info"},
                                                  {"", "histogram"},
                                                  // A counter of OpenMetrics ends in _total.
                                                  {"", "unknown"}}};
static_assert(static_cast<std::size_t>(MetricKind::bare_counter) == kKindTexts.size() - 1);

const KindTexts& texts_of(MetricKind kind) { return entry_of(kKindTexts, kind); }

/// The name of a kind in Prometheus' format.
std::string_view prometheus_type(MetricKind kind) {
  if (kind == MetricKind::bare_counter) return "counter";
  const bool has_own = kind == MetricKind::counter || kind == MetricKind::histogram;
  return has_own ? texts_of(kind).open_metrics_type : "gauge";
}

void write_sample(std::string& text, const MetricFamily& family, const MetricSample& sample) {
  if (family.kind == MetricKind::histogram) return write_histogram(text, family.name, sample);
  append(text, "{}{}{} {}\n", family.name, texts_of(family.kind).ending, braced(sample.labels),
         number(sample.value));
}

/// OpenMetrics: the family's name has no ending, and a counter's creation time follows its value.
void write_open_metrics(std::string& text, const MetricFamily& family) {
  append(text, "# TYPE {} {}\n", family.name, texts_of(family.kind).open_metrics_type);
  if (!family.unit.empty()) append(text, "# UNIT {} {}\n", family.name, family.unit);
  append(text, "# HELP {} {}\n", family.name, family.help);
  for (const MetricSample& sample : family.samples) {
    write_sample(text, family, sample);
    if (sample.created_unix_s) {
      append(text, "{}_created{} {}\n", family.name, braced(sample.labels),
             number(*sample.created_unix_s));
    }
  }
}

/// Prometheus: every name is its own family.
void write_prometheus(std::string& text, const MetricFamily& family) {
  const std::string name = prometheus_name(family);
  append(text, "# HELP {} {}\n", name, family.help);
  append(text, "# TYPE {} {}\n", name, prometheus_type(family.kind));
  for (const MetricSample& sample : family.samples) write_sample(text, family, sample);
  bool is_first = true;
  for (const MetricSample& sample : family.samples) {
    if (!sample.created_unix_s) continue;
    if (std::exchange(is_first, false)) {
      append(text, "# HELP {}_created {}\n", family.name, created_help(family));
      append(text, "# TYPE {}_created gauge\n", family.name);
    }
    append(text, "{}_created{} {}\n", family.name, braced(sample.labels),
           number(*sample.created_unix_s));
  }
}

std::string_view take_item(std::string_view& text, char separator) {
  return trimmed(take_until(text, separator), " ");
}

/// A parameter that a media type must have, if it has one of this name.
struct MediaParameter {
  std::string_view name;  ///< with "="
  std::string_view value;
  bool is_required = false;
};
using MediaParameters = std::span<const MediaParameter>;

constexpr std::array<MediaParameter, 1> kOpenMetricsVersion = {{{"version=", "1.0.0"}}};
constexpr std::array<MediaParameter, 1> kTextVersion = {{{"version=", "0.0.4"}}};
constexpr std::array<MediaParameter, 2> kProtobufMessages = {
    {{"proto=", "io.prometheus.client.MetricFamily", true}, {"encoding=", "delimited", true}}};

/// The preference (0 to 1) in the parameters of an `Accept` entry; 0 for other ones than `wanted`.
double preference(std::string_view parameters, MediaParameters wanted) {
  double preferred = 1;
  auto missing = std::ranges::count_if(wanted, &MediaParameter::is_required);
  while (!parameters.empty()) {
    std::string_view parameter = take_item(parameters, ';');
    if (take_prefix(parameter, "q=")) preferred = parse_double(parameter).value_or(0);
    for (const MediaParameter& each : wanted) {
      std::string_view value = parameter;
      if (!take_prefix(value, each.name)) continue;
      if (value != each.value) return 0;
      if (each.is_required) --missing;
    }
  }
  return missing > 0 ? 0 : preferred;
}

}  // namespace

std::vector<Label> without_empty(std::vector<Label> labels) {
  std::erase_if(labels, [](const Label& label) { return label.second.empty(); });
  return labels;
}

MetricsFormat metrics_format(std::string_view accept) noexcept {
  double protobuf = 0;
  double open_metrics = 0;
  double plain = 0;
  while (!accept.empty()) {
    std::string_view entry = take_item(accept, ',');
    const std::string_view type = take_item(entry, ';');
    if (type == kProtobufType) {
      protobuf = std::max(protobuf, preference(entry, kProtobufMessages));
    } else if (type == kOpenMetricsType) {
      open_metrics = std::max(open_metrics, preference(entry, kOpenMetricsVersion));
    } else if (type == "text/plain") {
      plain = std::max(plain, preference(entry, kTextVersion));
    }
  }
  if (protobuf > 0 && protobuf >= std::max(open_metrics, plain)) return MetricsFormat::protobuf;
  return open_metrics > 0 && open_metrics >= plain ? MetricsFormat::open_metrics
                                                   : MetricsFormat::prometheus;
}

std::string_view content_type_of(MetricsFormat format) noexcept {
  switch (format) {
    case MetricsFormat::open_metrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case MetricsFormat::protobuf:
      return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
             "encoding=delimited";
    case MetricsFormat::prometheus:
      break;
  }
  return "text/plain; version=0.0.4; charset=utf-8";
}

std::string prometheus_name(const MetricFamily& family) {
  return fmt::format("{}{}", family.name, texts_of(family.kind).ending);
}

std::string created_help(const MetricFamily& family) {
  return fmt::format("Unix time at which {} started at 0.", prometheus_name(family));
}

std::string metrics_text(std::span<const MetricFamily> families, MetricsFormat format) {
  if (format == MetricsFormat::protobuf) return metrics_protobuf(families);
  std::string text;
  const bool is_open = format == MetricsFormat::open_metrics;
  for (const MetricFamily& family : families) {
    if (family.samples.empty()) continue;
    is_open ? write_open_metrics(text, family) : write_prometheus(text, family);
  }
  if (is_open) text += "# EOF\n";
  return text;
}

}  // namespace wattle::daemon
