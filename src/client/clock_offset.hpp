// The difference between a daemon's clock and this machine's.
#pragma once

#include <limits>

#include "wire/messages.hpp"

namespace wattle::client {

/// Threads: a value type.
struct ClockOffset {
  double offset_s = 0.0;  ///< this machine's clock minus the daemon's
  double uncertainty_s = std::numeric_limits<double>::infinity();

  /// From one request for the time. `asked_s`, `answered_s`: this machine's clock, in Unix seconds;
  /// the daemon read its clock between them. Its times are whole milliseconds, also in events.
  [[nodiscard]] static ClockOffset of(double asked_s, double answered_s,
                                      wire::UnixMs daemon_ms) noexcept {
    constexpr double kHalfResolutionS = 0.0005;
    const double daemon_s = 1e-3 * static_cast<double>(daemon_ms);
    return {.offset_s = (asked_s + answered_s) / 2 - daemon_s,
            .uncertainty_s = (answered_s - asked_s) / 2 + kHalfResolutionS};
  }
};

}  // namespace wattle::client
