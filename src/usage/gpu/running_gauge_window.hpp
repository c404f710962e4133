// The window of a gauge over a time that can be longer than its history.
#pragma once

#include <optional>

#include "sampling/history.hpp"

namespace wattle {

/// Adds up a gauge from the time on at which a command `began`: a history of some hours drops its
/// oldest readings, and a command can run for weeks. Threads: one at a time.
class RunningGaugeWindow {
 public:
  /// To be called every few seconds: adds what is not too new.
  void advance(const History& gauge, TimePoint began) noexcept;

  [[nodiscard]] GaugeWindow until(const History& gauge, TimePoint began,
                                  TimePoint ended) const noexcept;

 private:
  GaugeWindow sum_;
  std::optional<TimePoint> summed_until_;
};

}  // namespace wattle
