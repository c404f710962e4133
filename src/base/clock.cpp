#include "base/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "base/anchor.hpp"
#include "base/cpu_time.hpp"
#include "wattle/unix_times.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

class MachineClock final : public TimeSource {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return TimePoint::clock::now(); }
  [[nodiscard]] nanoseconds suspended() const noexcept override {
    // The coarse clock is that of the last tick of the kernel, and costs a quarter. It is read
    // first: who is displaced before the other sees too much, never too little.
    const nanoseconds steady = clock_time(CLOCK_MONOTONIC_COARSE);
    return clock_time(CLOCK_BOOTTIME) - steady;
  }
};

/// The wall clock read between two reads of the steady clock, the tightest of three tries.
Anchor compare_clocks() noexcept {
  Anchor best{};
  nanoseconds best_width = nanoseconds::max();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const TimePoint before = TimePoint::clock::now();
    const nanoseconds wall = clock_time(CLOCK_REALTIME);
    const nanoseconds width = TimePoint::clock::now() - before;
    if (width < best_width) {
      best_width = width;
      best = {.since = before, .unix_minus_steady = wall - (before.time_since_epoch() + width / 2)};
    }
  }
  return best;
}

/// The process's one history: no part of `ask_history`: each question has its own.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::mutex history_mutex;
constinit AnchorHistory history;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

/// Asks the history, after a fresh comparison.
template <class Question>
auto ask_history(Question question) noexcept {
  const std::scoped_lock lock(history_mutex);
  history.observe(compare_clocks());
  return question(history);
}

}  // namespace

const TimeSource& machine_clock() noexcept {
  // Never destroyed: threads that are stuck in a driver may ask it while the program ends.
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory for it, nothing starts
  static const MachineClock& clock = *new MachineClock;
  return clock;
}

double to_unix(TimePoint time) noexcept {
  return ask_history([&](const AnchorHistory& known) { return known.to_unix(time); });
}

void to_unix(std::span<const TimePoint> times, std::span<double> unix_s) noexcept {
  // A copy: others do not wait while a long span is converted.
  const AnchorHistory known = ask_history([](const AnchorHistory& now) { return now; });
  for (std::size_t i = 0; i < std::min(times.size(), unix_s.size()); ++i) {
    unix_s[i] = known.to_unix(times[i]);
  }
}

TimePoint from_unix(double unix_s) noexcept {
  return ask_history([&](const AnchorHistory& known) { return known.from_unix(unix_s); });
}

bool wall_clock_stepped(TimePoint begin, TimePoint end) noexcept {
  return ask_history([&](const AnchorHistory& known) { return known.stepped_between(begin, end); });
}

}  // namespace wattle
