// Windows of a counter whose ends are moved to the counter's own updates.
//
// A counter shows the energy up to its last update, which is up to one interval ago: over 10 ms
// that is several percent. Here the caller waits for an update before the window starts and after
// it has ended, reading all the time. The energy of the waiting is subtracted; its power is
// measured over the updates just before the start. That is useful for short windows. Waiting keeps
// a CPU core in use.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sampling/energy_figure.hpp"
#include "sampling/history.hpp"

namespace wattle {

/// Counters that are renewed less often would be waited for too long.
inline constexpr std::chrono::nanoseconds kLongestAlignedUpdate = std::chrono::milliseconds(5);

/// True for a counter whose updates can be waited for.
[[nodiscard]] bool can_align(const Channel& channel) noexcept;

/// A counter's value, and when it was renewed: in the middle of `latency`, give or take half.
struct CounterUpdate {
  TimePoint at;
  std::chrono::nanoseconds latency{0};
  std::uint64_t ticks = 0;
};

/// Power while waiting, and its standard uncertainty.
struct WaitingPower {
  Watts mean;
  Watts uncertainty;
};

/// Finds the updates of a counter that is read all the time. Threads: one at a time.
class UpdateWatch {
 public:
  /// Updates over which the power of waiting is measured: enough to see the other load's own
  /// rhythm.
  static constexpr std::size_t kUpdates = 50;

  /// For a missing counter: nothing is added.
  UpdateWatch() noexcept = default;
  explicit UpdateWatch(const Channel& channel) noexcept;

  /// Adds the unwrapped value of the counter at the next read.
  void add(const Boundary& shown) noexcept;

  /// Updates so far: the first value that was read is none.
  [[nodiscard]] std::size_t updates() const noexcept { return updates_; }
  /// True if the last update, or the first read, is longer ago than an update should take.
  [[nodiscard]] bool is_overdue() const noexcept;
  /// Mean something after an update; the first, of the last 51.
  [[nodiscard]] const CounterUpdate& first() const noexcept;
  [[nodiscard]] const CounterUpdate& newest() const noexcept;
  /// Over the last interval; two updates must be there.
  [[nodiscard]] Watts newest_power() const noexcept;
  /// Over the last `kUpdates` intervals, which must be there: one more update than that.
  [[nodiscard]] WaitingPower waiting() const noexcept;

 private:
  /// The update `back` updates before the newest.
  [[nodiscard]] const CounterUpdate& update(std::size_t back) const noexcept;
  [[nodiscard]] Watts power(const CounterUpdate& from, const CounterUpdate& to) const noexcept;

  Joules tick_;
  std::chrono::nanoseconds patience_{0};
  std::array<CounterUpdate, kUpdates + 1> ring_{};
  std::size_t updates_ = 0;
  std::optional<Boundary> last_;
  TimePoint renewed_;  ///< the last update, or the first read
};

/// A window from `begin` to `end`, each of which lies next to an update.
struct AlignedWindow {
  TimePoint begin;
  TimePoint end;
  CounterUpdate first;  ///< before the start
  CounterUpdate last;   ///< after the end
  WaitingPower waiting;
};

/// Its energy. If a part between the two updates is unknown: as `counter_energy`.
[[nodiscard]] EnergyFigure aligned_energy(const History& history, const AlignedWindow& window);

}  // namespace wattle
