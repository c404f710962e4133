// The window of a gauge over a time that can be longer than its history.
#pragma once

#include <optional>

#include "sampling/history.hpp"

namespace wattle {

/// Adds up a gauge from the begin on: a history of some hours drops its oldest readings, and a
/// command can run for weeks. Threads: one at a time.
class RunningWindow {
 public:
  /// Adds what is older than half a minute, once a minute. The first call sets the begin.
  void advance(const History& gauge, TimePoint began) noexcept;

  /// From the begin until `ended`; from `began` on if there was no `advance`.
  [[nodiscard]] GaugeWindow until(const History& gauge, TimePoint began,
                                  TimePoint ended) const noexcept;

 private:
  GaugeWindow sum_;
  std::optional<TimePoint> summed_until_;
};

}  // namespace wattle
