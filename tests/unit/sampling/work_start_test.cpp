// Gauges, of work that starts with the window.
#include "sampling/gauges/work_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "read_gauge.hpp"

namespace wattle {
namespace {

constexpr nanoseconds kLength = 1s;

/// What a gauge that sees the last `window` of each 100 ms shows of 300 W from 0 s on, 100 W before
/// and after `kLength`; its updates are at `phase`, it is read every 100 ms, and on after the end.
class StepAtStart {
 public:
  StepAtStart(nanoseconds window, nanoseconds phase, nanoseconds period)
      : window_(window), phase_(phase), history_(mean_of(window), {.period = period}) {
    for (nanoseconds at = -300ms; at <= kLength; at += period) read(at);
    for (nanoseconds at = kLength + 10ms; at <= kLength + 200ms; at += 10ms) read(at);
  }
  [[nodiscard]] double energy_j(bool is_of_work) const {
    const auto until = is_of_work ? std::optional(kBegin + kLength) : std::nullopt;
    return gauge_energy(*history_, kBegin, kBegin + kLength, until).energy.value().si();
  }

 private:
  void read(nanoseconds at) {
    const auto before = (at - phase_).count();
    const auto updates = static_cast<double>(before) / 1e8;
    const nanoseconds update(phase_.count() + std::llround(std::floor(updates) * 1e8));
    const auto busy = [&](nanoseconds time) { return std::clamp(time, nanoseconds(0), kLength); };
    const double part = Seconds(busy(update) - busy(update - window_)) / Seconds(window_);
    history_.read(at, static_cast<std::uint64_t>(std::llround(100.0 + 200.0 * part)));
  }

  nanoseconds window_;
  nanoseconds phase_;
  KnownHistory history_;
};

double mean_energy_j(nanoseconds window, bool is_of_work, nanoseconds period = 100ms) {
  double sum_j = 0.0;
  constexpr int kPhases = 50;
  for (int i = 0; i < kPhases; ++i) {
    sum_j += StepAtStart(window, i * 2ms + 1ms, period).energy_j(is_of_work) / kPhases;
  }
  return sum_j;
}

TEST(WorkStart, IsMadeUpForOnAverage) {
  for (const nanoseconds window : {25ms, 95ms}) {
    EXPECT_NEAR(mean_energy_j(window, true), 300.0, 0.5) << window.count();
    EXPECT_LT(mean_energy_j(window, false), 297.0) << window.count();
  }
}

TEST(WorkStart, IsMadeUpForWhereTheGaugeIsReadMoreOftenThanItIsRenewed) {
  EXPECT_NEAR(mean_energy_j(25ms, true, 10ms), 300.0, 0.5);
  EXPECT_LT(mean_energy_j(25ms, false, 10ms), 298.5);
}

TEST(WorkStart, TakesNothingForALoadThatGoesOn) {
  KnownHistory history(mean_of(25ms));
  history.read_through(-300ms, kLength, 200);
  EXPECT_EQ(lacking_of_work(*history, {.delay = 12500us, .width = 25ms}, kBegin, kBegin + kLength,
                            112500us),
            Joules());
}

TEST(WorkStart, IsUnknownWithoutAValueFromBefore) {
  KnownHistory history(mean_of(25ms));
  history.read(100ms, 300);
  history.read_through(200ms, kLength, 400);
  EXPECT_EQ(lacking_of_work(*history, {.delay = 12500us, .width = 25ms}, kBegin, kBegin + kLength,
                            112500us),
            Joules());
}

}  // namespace
}  // namespace wattle
