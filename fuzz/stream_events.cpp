// The bytes of a power stream: in whatever pieces they come, the same events come out, and each is
// understood or refused.
#include <string>
#include <vector>

#include "check.hpp"
#include "wire/event.hpp"

namespace wattle::fuzz {
namespace {

std::vector<std::string> events_of(std::string_view bytes, std::size_t piece) {
  wire::SseReader reader;
  std::vector<std::string> events;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view part = bytes.substr(at, piece);
    while (const auto event = reader.next(part)) events.emplace_back(*event);
    require(part.empty(), "all bytes are taken");
  }
  return events;
}

void check_event(wire::EventParser& parser, wire::DeviceType type, std::string_view json) {
  const auto event = parser.parse(type, json);
  if (!event) return require(!parser.refusal().empty(), "a refusal has a reason");
  require(event->timestamp_ms >= 0.0, "a time is a number from 0");
  for (const wire::DevicePower& power : event->devices) {
    require(power.power_mw.value_or(0.0) >= 0.0, "a power is a number from 0");
    require(power.dram_mw.value_or(0.0) >= 0.0, "a memory's power is a number from 0");
    require(type == wire::DeviceType::cpu || power.power_mw.has_value(), "a GPU has a power");
  }
}

}  // namespace
}  // namespace wattle::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
FUZZ_TARGET(stream_events)(const unsigned char* data, std::size_t size) {
  using namespace wattle;  // NOLINT(google-build-using-namespace): one function
  const std::string_view bytes = fuzz::text_of(data, size);
  const auto events = fuzz::events_of(bytes, size + 1);
  fuzz::require(fuzz::events_of(bytes, 1) == events, "bytes one by one give the same events");
  fuzz::require(fuzz::events_of(bytes, 7) == events, "pieces give the same events");
  wire::EventParser parser;
  for (const std::string& event : events) {
    fuzz::check_event(parser, wire::DeviceType::gpu, event);
    fuzz::check_event(parser, wire::DeviceType::cpu, event);
  }
  fuzz::check_event(parser, wire::DeviceType::gpu, bytes);
  fuzz::check_event(parser, wire::DeviceType::cpu, bytes);
  return 0;
}
