// The events of a power stream, of either generation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "wire/messages.hpp"

namespace wattle::wire {

struct DevicePower {
  DeviceId id = 0;
  std::optional<double> power_mw{};  ///< absent: unknown, which only a CPU's may be
  std::optional<double> dram_mw{};   ///< absent: unknown
  friend bool operator==(const DevicePower&, const DevicePower&) = default;
};

struct PowerEvent {
  double timestamp_ms = 0;  ///< since 1970-01-01 UTC, by the daemon's clock
  /// It tells all devices: those that are not in it are told no longer.
  bool is_snapshot = false;
  std::span<const DevicePower> devices{};
};

/// Understands one event after the other, each by its own generation. Foreign text: whatever it
/// holds, nothing throws but for want of memory, and no more is allocated than the longest event
/// needs. Keys that mean nothing here are passed over. Threads: one at a time.
class EventParser {
 public:
  EventParser();
  EventParser(const EventParser&) = delete;
  EventParser& operator=(const EventParser&) = delete;
  ~EventParser();

  /// An event of a stream of such devices; what is in it stands until the next call. Absent: it is
  /// none, see `refusal`.
  [[nodiscard]] std::optional<PowerEvent> parse(DeviceType type, std::string_view json);
  /// Why the last event was refused.
  [[nodiscard]] std::string_view refusal() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle::wire
