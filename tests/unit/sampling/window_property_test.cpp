// Thousands of random histories: the energy of random windows is that of a reference which goes
// through the readings one by one, interval by interval, and adds up.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "known_history.hpp"
#include "sampling/integrate.hpp"
#include "sanitized.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr unsigned kHistories = kSanitized ? 300 : 4000;
constexpr int kWindows = 20;

/// One reading of a channel, as it happened.
struct Event {
  nanoseconds at;  ///< from `kBegin`
  ReadStatus status;
  std::uint64_t raw;
  bool suspended;  ///< the machine slept since the reading before
};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  /// From 0 to `limit` - 1.
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  ReadStatus status() {
    if (!one_in(6)) return ReadStatus::ok;
    constexpr std::array kOthers = {ReadStatus::retry, ReadStatus::stale, ReadStatus::gone};
    return kOthers.at(below(kOthers.size()));
  }
  /// Half of the time exactly at something that happened.
  nanoseconds time(const std::vector<Event>& events, nanoseconds quantum) {
    if (one_in(2)) return events.at(below(events.size())).at;
    const nanoseconds span = events.back().at + 2s;
    return nanoseconds(static_cast<std::int64_t>(below(static_cast<std::uint64_t>(span.count())))) /
               quantum * quantum -
           1s;
  }

 private:
  std::mt19937_64 engine_;
};

/// What a window is found to hold.
struct Found {
  double energy = 0.0;
  nanoseconds known{0};
};

nanoseconds overlap(nanoseconds a, nanoseconds b, nanoseconds begin, nanoseconds end) {
  return std::max(nanoseconds(0), std::min(b, end) - std::max(a, begin));
}

/// Hands the events to a history, as the machine would.
void replay(const std::vector<Event>& events, KnownHistory& history) {
  for (const Event& event : events) {
    if (event.suspended) history.suspend();
    if (event.status == ReadStatus::ok) {
      history.read(event.at, event.raw);
    } else {
      history.fail(event.at, event.status);
    }
  }
}

/// Compares a figure with what was found otherwise; says what is wrong.
void expect_same(const EnergyFigure& figure, const Found& found, nanoseconds length) {
  EXPECT_EQ(figure.known, Seconds(found.known));
  EXPECT_NEAR(figure.unknown.count(), Seconds(length - found.known).count(), 1e-12);
  EXPECT_EQ(figure.energy.has_value(), found.known > 0ns);
  EXPECT_NEAR(figure.energy.value_or(Joules(0.0)).si(), found.energy,
              1e-9 * std::max(1.0, found.energy));
  EXPECT_EQ(figure.flags.has(Flag::gap) || figure.unknown == Seconds(0.0) ||
                figure.flags.has(Flag::reset) || figure.flags.has(Flag::implausible),
            true)
      << "something is unknown, and nothing says why";
}

// Counters: half a joule a tick, around after 1000; at most 100 W, which is 200 ticks a second and
// one update of up to 2 ms at either end.

bool is_possible(double ticks, nanoseconds elapsed) {
  return ticks <= std::floor(200.0 * Seconds(elapsed + 4ms).count()) + 1.0;
}

std::vector<Event> random_counter(Dice& dice) {
  std::vector<Event> events;
  nanoseconds now = 0s;
  std::uint64_t raw = dice.below(1000);
  const std::uint64_t count = 2 + dice.below(40);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto elapsed = milliseconds(100 + static_cast<std::int64_t>(dice.below(400)));
    now += elapsed;
    const auto most = static_cast<std::uint64_t>(elapsed.count()) / 5;
    raw = (raw + dice.below(most + 1)) % 1000;
    if (dice.one_in(12)) raw = dice.below(20);
    if (dice.one_in(12)) raw = dice.below(1000);
    events.push_back({now, dice.status(), raw, dice.one_in(12)});
  }
  return events;
}

/// From each value to the next one: known where a wrap or an advance explains it, and then even.
Found reference_counter(const std::vector<Event>& events, nanoseconds begin, nanoseconds end) {
  Found found;
  const Event* last = nullptr;
  bool suspended = false;
  for (const Event& event : events) {
    suspended = suspended || event.suspended;
    if (event.status != ReadStatus::ok) continue;
    if (last != nullptr && !suspended) {
      const nanoseconds length = event.at - last->at;
      const double rise = static_cast<double>(event.raw) - static_cast<double>(last->raw);
      const double ticks = rise < 0 ? rise + 1000.0 : rise;
      if (is_possible(ticks, length)) {
        const nanoseconds inside = overlap(last->at, event.at, begin, end);
        found.known += inside;
        found.energy += 0.5 * ticks * (Seconds(inside) / Seconds(length));
      }
    }
    last = &event;
    suspended = false;
  }
  return found;
}

TEST(WindowProperty, EnergyOfACounterIsThatOfItsKnownIntervals) {
  std::uint64_t known = 0;
  std::uint64_t partly = 0;
  for (unsigned seed = 0; seed < kHistories && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::vector<Event> events = random_counter(dice);
    KnownHistory history(half_joules(), {.period = 100ms, .memory_limit = kMinTimelineBytes});
    replay(events, history);
    for (int i = 0; i < kWindows && !HasFailure(); ++i) {
      const auto [begin, end] = std::minmax({dice.time(events, 1us), dice.time(events, 1us)});
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", from " << begin.count() << " to "
                                      << end.count() << " ns");
      const Found found = reference_counter(events, begin, end);
      expect_same(counter_energy(*history, {.begin = kBegin + begin, .end = kBegin + end}), found,
                  end - begin);
      if (found.known > 0ns) ++known;
      if (found.known > 0ns && found.known < end - begin) ++partly;
    }
  }
  EXPECT_GT(known, kHistories * kWindows / 4) << "and not by never happening";
  EXPECT_GT(partly, kHistories * kWindows / 10);
}

// Gauges: watts, read about every 100 ms, renewed by the sensor every 100 ms.

constexpr nanoseconds kHolds = 200ms;

std::vector<Event> random_gauge(Dice& dice) {
  std::vector<Event> events;
  nanoseconds now = 0s;
  std::uint64_t watts = dice.below(500);
  const std::uint64_t count = 1 + dice.below(60);
  for (std::uint64_t i = 0; i < count; ++i) {
    now += dice.one_in(20) ? 1s : 90ms + microseconds(100) * static_cast<int>(dice.below(250));
    if (dice.one_in(4)) watts = dice.one_in(5) ? 0 : dice.below(500);
    events.push_back({now, dice.status(), watts, dice.one_in(20)});
  }
  return events;
}

/// Each value holds until the next one, or until it is not to be believed any more; and not at all
/// where the machine slept before the next one.
Found reference_gauge(const std::vector<Event>& events, nanoseconds begin, nanoseconds end) {
  Found found;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].status != ReadStatus::ok) continue;
    nanoseconds until = events[i].at + kHolds;
    for (std::size_t next = i + 1; next < events.size(); ++next) {
      if (events[next].suspended && events[next - 1].at <= until) until = events[i].at;
      if (events[next].status != ReadStatus::ok) continue;
      until = std::min(until, events[next].at);
      break;
    }
    const nanoseconds held = overlap(events[i].at, until, begin, end);
    found.known += held;
    found.energy += static_cast<double>(events[i].raw) * Seconds(held).count();
  }
  return found;
}

TEST(WindowProperty, EnergyOfAGaugeIsThatOfItsValuesWhileTheyHeld) {
  std::uint64_t known = 0;
  std::uint64_t partly = 0;
  for (unsigned seed = 0; seed < kHistories && !HasFailure(); ++seed) {
    Dice dice(seed);
    const std::vector<Event> events = random_gauge(dice);
    KnownHistory history(whole_watts(), {.period = 100ms, .memory_limit = kMinTimelineBytes});
    replay(events, history);
    for (int i = 0; i < kWindows && !HasFailure(); ++i) {
      const auto [begin, end] = std::minmax({dice.time(events, 1ns), dice.time(events, 1ns)});
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", from " << begin.count() << " to "
                                      << end.count() << " ns");
      const Found found = reference_gauge(events, begin, end);
      expect_same(gauge_energy(*history, kBegin + begin, kBegin + end), found, end - begin);
      if (found.known > 0ns) ++known;
      if (found.known > 0ns && found.known < end - begin) ++partly;
    }
  }
  EXPECT_GT(known, kHistories * kWindows / 4) << "and not by never happening";
  EXPECT_GT(partly, kHistories * kWindows / 10);
}

Channel unknown_gauge() {
  return {
      .domain = Domain::nvidia_gpu(0), .metric = Metric::power_average, .gauge = {.scale = 1e-3}};
}

/// What `held_energy` says without it.
EnergyFigure energy_of_history(const std::vector<HeldValue>& values, TimePoint end) {
  const nanoseconds length = end - values.front().since;
  const nanoseconds period =
      std::max<nanoseconds>(milliseconds(1), length / static_cast<std::int64_t>(values.size()));
  History history(unknown_gauge(), {.period = period, .longest_pause = 2 * length + period});
  for (const HeldValue& value : values) {
    history.add({.at = value.since, .raw = value.raw, .status = ReadStatus::ok});
  }
  return gauge_energy(history, values.front().since, end);
}

std::vector<HeldValue> some_values(std::mt19937_64& random) {
  constexpr std::chrono::hours kOrigin{100};
  const auto below = [&](std::uint64_t count) { return random() % count; };
  const std::uint64_t period_ms = std::uint64_t{1} << below(13);
  const std::uint64_t course = below(4);
  std::vector<HeldValue> values;
  TimePoint at{kOrigin};
  std::uint64_t raw = 100'000;
  for (std::uint64_t count = 1 + below(900); values.size() < count;) {
    if (course == 1 && below(10) == 0) raw = 50'000 + 1000 * below(300);
    if (course == 2) raw = 50'000 + below(300'000);
    if (course == 3) raw = values.size() / 3 % 2 == 0 ? 80'000 : 240'000;
    values.push_back({.since = at, .raw = raw});
    at += milliseconds(1 + below(2 * period_ms));
  }
  return values;
}

TEST(HeldEnergy, IsThatOfAHistoryOfTheSameValues) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::vector<HeldValue> values = some_values(random);
    const TimePoint end = values.back().since + milliseconds(random() % 3000 + 1);
    const EnergyFigure figure = held_energy(unknown_gauge(), values, end);
    const EnergyFigure same = energy_of_history(values, end);
    ASSERT_EQ(figure.energy, same.energy) << i;
    ASSERT_EQ(figure.uncertainty, same.uncertainty) << i << ", " << values.size() << " values";
    ASSERT_EQ(figure.common, same.common) << i;
    ASSERT_EQ(figure.known, same.known) << i;
    ASSERT_EQ(figure.mean, same.mean) << i;
    ASSERT_EQ(figure.flags, same.flags) << i;
  }
}

TEST(HeldEnergy, OfNoPowerIsZeroAndSaysSo) {
  const std::vector<HeldValue> values(3, {.since = TimePoint(milliseconds(5)), .raw = 0});
  const EnergyFigure figure = held_energy(unknown_gauge(), values, TimePoint(milliseconds(1005)));
  EXPECT_EQ(figure.energy, Joules());
  EXPECT_TRUE(figure.flags.has(Flag::zero));
}

}  // namespace
}  // namespace wattle
