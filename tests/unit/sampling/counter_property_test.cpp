// Ten million random histories of counters, judged by what was really spent.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "sampling/counters/counter.hpp"

// Fewer where every access is checked.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATTLE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATTLE_TEST_SANITIZED 1
#endif
#endif

namespace wattle {
namespace {

using std::chrono::nanoseconds;

#ifdef WATTLE_TEST_SANITIZED
constexpr std::uint64_t kHistories = 250'000;
#else
constexpr std::uint64_t kHistories = 5'000'000;
#endif

/// splitmix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// From 0 to `limit` - 1.
  std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }
  bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }
  /// A number of at most `most_bits` bits, every length as likely as any other.
  std::uint64_t of_any_length(unsigned most_bits) noexcept {
    const std::uint64_t bits = below(most_bits + 1);
    return bits == 0 ? 0 : next() >> (64 - bits);
  }

 private:
  std::uint64_t state_;
};

std::uint64_t random_modulus(Random& random) {
  switch (random.below(8)) {
    case 0:
      return 0;  // unknown
    case 1:
      return 1 + random.below(1000);
    case 2:
      return std::uint64_t{1} << random.below(33);
    case 3:
      return 1 + random.of_any_length(40);
    default:
      return std::uint64_t{1} << 32U;
  }
}

CounterTraits random_traits(Random& random) {
  constexpr std::array kTicks = {1.0 / 16384.0, 1.0 / 65536.0, 15.3e-6, 1e-6, 1e-3, 1.0};
  return {.tick = Joules(kTicks.at(random.below(kTicks.size()))),
          .modulus = random_modulus(random),
          .max_power = Watts(static_cast<double>(1 + random.of_any_length(13)))};
}

/// A device that spends energy, and its counter, which lags by up to one update interval.
class Device {
 public:
  Device(const CounterTraits& traits, nanoseconds update, Random& random)
      : modulus_(traits.modulus),
        grains_per_ns_(traits.max_power.si() / traits.tick.si() * 1e-9 * kGrains),
        update_(update),
        random_(random),
        grains_(random.below(kGrains)) {
    if (modulus_ == 0) {
      offset_ = random.of_any_length(40);
    } else {  // often close to its end
      offset_ = random.one_in(2) ? random.below(modulus_)
                                 : modulus_ - 1 - random.of_any_length(20) % modulus_;
    }
  }

  /// Lets time pass at a power up to the greatest. Gives the ticks that the counter advanced.
  std::uint64_t spend(nanoseconds time) {
    const nanoseconds most_lag = std::min(update_, lag_ + time);
    const nanoseconds lag(random_.below(static_cast<std::uint64_t>(most_lag.count()) + 1));
    const nanoseconds shown = time + lag_ - lag;
    lag_ = lag;
    const double share =
        random_.one_in(4) ? 1.0 : static_cast<double>(random_.below(1025)) / 1024.0;
    const std::uint64_t before = ticks();
    grains_ +=
        static_cast<std::uint64_t>(grains_per_ns_ * static_cast<double>(shown.count()) * share);
    return ticks() - before;
  }

  /// The counter starts again: at 0, or once in a while anywhere.
  void reset() {
    grains_ = 0;
    offset_ = 0;
    if (random_.one_in(4)) offset_ = modulus_ == 0 ? random_.next() >> 2U : random_.below(modulus_);
  }

  [[nodiscard]] std::uint64_t raw() const {
    const std::uint64_t shown = offset_ + ticks();
    return modulus_ == 0 ? shown : shown % modulus_;
  }

 private:
  /// Energy is kept in whole parts of a tick, so that the truth is exact.
  static constexpr std::uint64_t kGrains = 1U << 20U;
  [[nodiscard]] std::uint64_t ticks() const { return grains_ / kGrains; }

  std::uint64_t modulus_;
  double grains_per_ns_;
  nanoseconds update_;
  Random& random_;
  std::uint64_t offset_ = 0;
  std::uint64_t grains_;
  nanoseconds lag_{0};
};

/// What was met on the way, so that no case is tested by never happening.
struct Met {
  std::array<std::uint64_t, 5> kinds{};
  std::uint64_t ambiguous = 0;

  void note(const CounterStep& step) {
    ++kinds.at(static_cast<std::size_t>(step.kind));
    if (step.ambiguous) ++ambiguous;
  }
  [[nodiscard]] std::uint64_t of(StepKind kind) const {
    return kinds.at(static_cast<std::size_t>(kind));
  }
};

/// A device and the class under test side by side. Its steps say what is wrong; nothing if all is
/// well.
class CheckedCounter {
 public:
  CheckedCounter(std::uint64_t seed, Met& met)
      : met_(met),
        random_(seed),
        traits_(random_traits(random_)),
        update_(static_cast<std::int64_t>(random_.of_any_length(27))),  // up to 134 ms
        device_(traits_, update_, random_),
        unwrap_(traits_, update_),
        steps_(1 + random_.below(6)) {
    last_ = device_.raw();
    unwrap_.update(last_, now_);
  }

  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] bool resets_now() { return random_.one_in(3); }

  std::string_view step() {
    const nanoseconds elapsed = random_time();
    const std::uint64_t truth = device_.spend(elapsed);
    const std::uint64_t possible = unwrap_.possible_ticks(elapsed);
    const CounterStep seen = look(elapsed);
    if (truth > possible) return "what was spent is called impossible";
    if (!seen.known()) return "a step without a reset is unknown";
    const bool whole_turn_fits = traits_.modulus != 0 && possible >= traits_.modulus;
    if (whole_turn_fits) {
      if (!seen.ambiguous) return "a whole turn fits, but the step is not ambiguous";
      return seen.ticks == truth % traits_.modulus ? "" : "not the least that explains it";
    }
    if (seen.ticks != truth) return "not what was spent";
    const bool could_be_reset = seen.kind == StepKind::wrapped && possible >= traits_.modulus / 10;
    return seen.ambiguous == could_be_reset ? "" : "wrongly ambiguous, or wrongly not";
  }

  std::string_view step_with_reset() {
    const nanoseconds elapsed = random_time();
    const nanoseconds before(random_.below(static_cast<std::uint64_t>(elapsed.count()) + 1));
    (void)device_.spend(before);
    device_.reset();
    (void)device_.spend(elapsed - before);
    const std::uint64_t fell_from = last_;
    const CounterStep seen = look(elapsed);

    const double most_j = traits_.max_power.si() * Seconds(elapsed + 2 * update_).count();
    const double seen_j = traits_.tick.si() * static_cast<double>(seen.ticks);
    constexpr double kRounding = 1.0 + 1e-12;  // of the doubles here
    if (seen_j > most_j * kRounding + traits_.tick.si()) return "more than is possible";
    if (!seen.known()) return seen.ticks == 0 ? "" : "unknown, but with ticks";
    if (last_ >= fell_from) return "";  // it has caught up: nothing shows it
    if (traits_.modulus == 0) return "a fall without a modulus was believed";
    const std::uint64_t implied = traits_.modulus - fell_from + last_;
    const bool distinguishable = implied > unwrap_.possible_ticks(elapsed);
    return distinguishable ? "a wrap that is not possible was believed" : "";
  }

 private:
  nanoseconds random_time() {  // up to 137 s
    return nanoseconds(static_cast<std::int64_t>(random_.of_any_length(37)));
  }
  CounterStep look(nanoseconds elapsed) {
    now_ += elapsed;
    last_ = device_.raw();
    const CounterStep seen = unwrap_.update(last_, now_);
    met_.note(seen);
    return seen;
  }

  Met& met_;
  Random random_;
  CounterTraits traits_;
  nanoseconds update_;
  Device device_;
  CounterUnwrap unwrap_;
  std::uint64_t steps_;
  TimePoint now_{std::chrono::hours(1)};
  std::uint64_t last_ = 0;
};

TEST(CounterProperty, WithoutResetsEveryStepIsExactWhileLessThanAWholeTurnFits) {
  Met met;
  for (std::uint64_t seed = 0; seed < kHistories; ++seed) {
    CheckedCounter history(seed, met);
    for (std::uint64_t i = 0; i < history.steps(); ++i) {
      const std::string_view wrong = history.step();
      ASSERT_EQ(wrong, "") << "seed " << seed << ", step " << i;
    }
  }
  EXPECT_GT(met.of(StepKind::forward), kHistories);
  EXPECT_GT(met.of(StepKind::wrapped), kHistories / 10);
  EXPECT_GT(met.ambiguous, kHistories / 10);
}

TEST(CounterProperty, WithResetsNothingImpossibleIsBelievedAndAllThatCanBeReportedIsFlagged) {
  Met met;
  for (std::uint64_t seed = 0; seed < kHistories; ++seed) {
    CheckedCounter history(~seed, met);
    for (std::uint64_t i = 0; i < history.steps(); ++i) {
      const std::string_view wrong =
          history.resets_now() ? history.step_with_reset() : history.step();
      ASSERT_EQ(wrong, "") << "seed ~" << seed << ", step " << i;
    }
  }
  EXPECT_GT(met.of(StepKind::reset), kHistories / 10);
  EXPECT_GT(met.of(StepKind::implausible), kHistories / 100);
  EXPECT_GT(met.of(StepKind::wrapped), kHistories / 10);
}

}  // namespace
}  // namespace wattle
