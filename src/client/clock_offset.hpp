// How far a daemon's clock is from this machine's.
#pragma once

#include <limits>

#include "wire/messages.hpp"

namespace wattle::client {

/// Threads: a value type.
struct ClockOffset {
  double offset_s = 0.0;  ///< this machine's clock minus the daemon's
  double uncertainty_s = std::numeric_limits<double>::infinity();

  /// From one question for the time, by this machine's clock in Unix seconds: the daemon answered
  /// at some moment between. It tells whole milliseconds, as do its events.
  [[nodiscard]] static ClockOffset of(double asked_s, double answered_s,
                                      wire::UnixMs daemon_ms) noexcept {
    constexpr double kHalfResolutionS = 0.0005;
    const double daemon_s = 1e-3 * static_cast<double>(daemon_ms);
    return {.offset_s = (asked_s + answered_s) / 2 - daemon_s,
            .uncertainty_s = (answered_s - asked_s) / 2 + kHalfResolutionS};
  }
};

}  // namespace wattle::client
