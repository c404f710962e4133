#include "base/text/trace_context.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <random>
#include <span>

#include "base/text/split.hpp"

namespace wattle {
namespace {

constexpr std::size_t kTraceparentBytes = 55;

/// -1: no small hexadecimal digit.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// False: these are no hexadecimal digits, or there are too few.
bool read_hex(std::string_view text, std::span<std::uint8_t> into) noexcept {
  if (text.size() != 2 * into.size()) return false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    into[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return true;
}

bool is_zero(std::span<const std::uint8_t> id) noexcept {
  return std::ranges::all_of(id, [](std::uint8_t byte) { return byte == 0; });
}

std::string hex_of(std::span<const std::uint8_t> id) {
  std::string text;
  text.reserve(2 * id.size());
  for (const std::uint8_t byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

template <class Id>
Id random_id() {
  Id id{};
  while (is_zero(id)) {
    if (::getrandom(id.data(), id.size(), GRND_NONBLOCK) == static_cast<ssize_t>(id.size())) {
      continue;
    }
    // Before the kernel has random numbers, soon after its start.
    std::random_device device;
    for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(device());
  }
  return id;
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) noexcept {
  text = trimmed(text);
  if (text.size() < kTraceparentBytes || text.size() > kMostTraceparentBytes) return std::nullopt;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  TraceContext context;
  const bool has_fields = read_hex(text.substr(0, 2), version) && text[2] == '-' &&
                          read_hex(text.substr(3, 32), context.trace) && text[35] == '-' &&
                          read_hex(text.substr(36, 16), context.parent) && text[52] == '-' &&
                          read_hex(text.substr(53, 2), flags);
  if (!has_fields || version[0] == 0xff) return std::nullopt;
  // A later version may have more fields.
  const bool has_more = text.size() > kTraceparentBytes;
  if (has_more && (version[0] == 0 || text[kTraceparentBytes] != '-')) return std::nullopt;
  if (is_zero(context.trace) || is_zero(context.parent)) return std::nullopt;
  context.is_sampled = (flags[0] & 1U) != 0;
  return context;
}

std::string traceparent_text(const TraceContext& context) {
  return "00-" + hex_of(context.trace) + "-" + hex_of(context.parent) +
         (context.is_sampled ? "-01" : "-00");
}

TraceId make_trace_id() { return random_id<TraceId>(); }
SpanId make_span_id() { return random_id<SpanId>(); }

std::string hex_text(const TraceId& id) { return hex_of(id); }
std::string hex_text(const SpanId& id) { return hex_of(id); }

}  // namespace wattle
