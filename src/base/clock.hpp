// The clock as an interface, so that tests run in virtual time.
#pragma once

#include <chrono>

#include "wattle/clock.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// Threads: any.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
  /// Total time the machine was suspended since boot, the boot-time clock minus the steady clock;
  /// up to 10 ms too much; more where the thread is displaced between the two.
  [[nodiscard]] virtual std::chrono::nanoseconds suspended() const noexcept = 0;
};

/// The machine's own clock. Exported for the components.
[[nodiscard]] WATTLE_EXPORT const TimeSource& machine_clock() noexcept;

}  // namespace wattle
