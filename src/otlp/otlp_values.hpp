// The values sent by OTLP: https://opentelemetry.io/docs/specs/otlp; their JSON, and units of work
// as spans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text/trace_context.hpp"
#include "wattle/work_units.hpp"

namespace wattle::otlp {

/// A whole number is sent as a text, since JSON's numbers do not hold all of 64 bits.
using OtlpValue = std::variant<std::string, std::int64_t, double, bool>;

struct OtlpAttribute {
  std::string key;
  OtlpValue value;
};
using OtlpAttributes = std::vector<OtlpAttribute>;

/// Nanoseconds since 1970.
using UnixNs = std::uint64_t;

/// A time that is not after 1970, or not a number, becomes 0: unknown.
[[nodiscard]] UnixNs unix_ns(double unix_s) noexcept;

enum class OtlpKind : std::uint8_t {
  gauge,
  counter,          ///< cumulative, and never falls
  up_down_counter,  ///< cumulative
};

struct OtlpPoint {
  OtlpAttributes attributes{};
  std::variant<double, std::int64_t> value{};
  UnixNs at = 0;
  std::optional<UnixNs> since{};  ///< when a counter was 0; absent: unknown, or a gauge
};

struct OtlpMetric {
  std::string name;
  std::string description;
  std::string unit;  ///< of UCUM: "J", "W", "By", "1", "{unit}"
  OtlpKind kind = OtlpKind::gauge;
  std::vector<OtlpPoint> points{};
};

struct OtlpSpan {
  TraceId trace{};
  SpanId id{};
  std::optional<SpanId> parent{};
  std::string name;
  UnixNs begin = 0;
  UnixNs end = 0;
  OtlpAttributes attributes{};
  std::string error{};  ///< why what it did failed; empty: it did not
};

enum class OtlpSignal : std::uint8_t { metrics, traces };

/// One request: its body, and how many data points or spans are in it.
struct OtlpBatch {
  OtlpSignal signal = OtlpSignal::metrics;
  std::uint64_t items = 0;
  std::string body{};
};

/// `resource`: what all of it is about: host.name, service.name. Values that are no finite numbers,
/// and metrics without a point, are left out; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] OtlpBatch metrics_batch(const OtlpAttributes& resource,
                                      const std::vector<OtlpMetric>& metrics);
[[nodiscard]] OtlpBatch spans_batch(const OtlpAttributes& resource,
                                    const std::vector<OtlpSpan>& spans);

/// energy.joules and energy.uncertainty_joules (k = 2), which are absent if the energy is unknown;
/// energy.unknown_seconds, energy.flags.
void add_energy(OtlpAttributes& attributes, const MeasuredEnergy& energy);

/// energy.flags: their names, with blanks between them; absent where there are none.
void add_flags(OtlpAttributes& attributes, Flags flags);

/// False: the caller of the unit does not record its trace.
[[nodiscard]] bool is_recorded(const UnitEnergy& unit);

/// A span of the trace of the unit, or else of `otherwise`; `id`: of its marks.
[[nodiscard]] OtlpSpan span_of(const UnitEnergy& unit, const std::string& id,
                               const std::optional<TraceContext>& otherwise = {});

}  // namespace wattle::otlp
