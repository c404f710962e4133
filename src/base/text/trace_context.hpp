// The trace that a unit of work belongs to, as W3C Trace Context writes it in `traceparent`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wattle {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

/// Where something is in a trace. Neither number is all zeros. Threads: a value type.
struct TraceContext {
  TraceId trace{};
  SpanId parent{};         ///< the span that started it
  bool is_sampled = true;  ///< its caller records the trace

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

/// No header is longer: https://www.w3.org/TR/trace-context-2/
inline constexpr std::size_t kMostTraceparentBytes = 256;

/// "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01". Absent for what is to be ignored:
/// another form, capital letters, version ff, numbers that are all zeros. Of a later version the
/// first four fields are read. Blanks at both ends are ignored.
[[nodiscard]] std::optional<TraceContext> parse_traceparent(std::string_view text) noexcept;
/// In version 00.
[[nodiscard]] std::string traceparent_text(const TraceContext& context);

/// New random numbers, which are never all zeros. Threads: any.
[[nodiscard]] TraceId make_trace_id();
[[nodiscard]] SpanId make_span_id();

/// In small hexadecimal digits.
[[nodiscard]] std::string hex_text(const TraceId& id);
[[nodiscard]] std::string hex_text(const SpanId& id);

}  // namespace wattle
