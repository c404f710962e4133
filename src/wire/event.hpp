// The events of a power stream, of either generation.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "wire/messages.hpp"

namespace wattle::wire {

struct DevicePower {
  DeviceId id = 0;
  std::optional<double> power_mw{};  ///< absent: unknown (CPUs only)
  std::optional<double> dram_mw{};   ///< absent: unknown
  friend bool operator==(const DevicePower&, const DevicePower&) = default;
};

struct PowerEvent {
  double timestamp_ms = 0;  ///< since 1970-01-01 UTC, by the daemon's clock
  /// The event has all devices: others are no longer served.
  bool is_snapshot = false;
  std::span<const DevicePower> devices{};
};

/// Parses events of either generation. Safe for untrusted text: throws only if memory runs out, and
/// allocates only what the longest event needs. Unknown keys are ignored. Not thread-safe.
class EventParser {
 public:
  EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;
  ~EventParser();

  /// Parses one event of a stream of `type`. The result is valid until the next call. Absent:
  /// invalid, see `refusal`.
  [[nodiscard]] std::optional<PowerEvent> parse(DeviceType type, std::string_view json);
  /// Why the last event was refused.
  [[nodiscard]] std::string_view refusal() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle::wire
