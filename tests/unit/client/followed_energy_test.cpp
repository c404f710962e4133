// Energies from the values of a daemon, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "client/followed.hpp"

namespace wattle::client_test {
namespace {

class FollowedEnergy : public testing::Test {
 protected:
  void start() {
    followed_.start();
    begin_ = followed_.clock.at();
  }
  /// Between two times since the start.
  MeasuredEnergy gpu(std::chrono::nanoseconds from, std::chrono::nanoseconds to) const {
    return followed_.book.energy(0, begin_ + from, begin_ + to).gpus.at(0);
  }
  MeasuredEnergy cpu(std::chrono::nanoseconds from, std::chrono::nanoseconds to) const {
    return followed_.book.energy(0, begin_ + from, begin_ + to).cpus.at(0);
  }
  /// The power of a GPU is another one: 100 W and 101 W by turns.
  void change_in(std::chrono::nanoseconds time) {
    followed_.advance(time);
    followed_.send_gpu(0, std::exchange(is_high_, !is_high_) ? 100'000 : 101'000);
  }
  /// It changes every 100 ms.
  void change_for(std::chrono::seconds time) {
    for (int i = 0; i < time / 100ms; ++i) change_in(100ms);
  }
  std::uint64_t since_begin_ms() const {
    return static_cast<std::uint64_t>((followed_.clock.at() - begin_) / 1ms);
  }

  Followed followed_{{.endpoint = "node:1"}, /*keeps_energy=*/true};
  TimePoint begin_{std::chrono::hours(1)};

 private:
  bool is_high_ = false;
};

double joules(const MeasuredEnergy& energy) { return energy.energy.value_or(Joules(-1.0)).si(); }

// Weakness 10: a steady device sends one value, and no energy at all.
TEST_F(FollowedEnergy, OfASteadyPowerIsAllOfIt) {
  start();
  followed_.advance(12s);
  EXPECT_NEAR(joules(gpu(1s, 11s)), 1000.0, 0.1);
  EXPECT_EQ(gpu(1s, 11s).unknown.count(), 0.0);
  EXPECT_NEAR(joules(cpu(1s, 11s)), 500.0, 0.1);
}

TEST_F(FollowedEnergy, OfACounterThatItsDaemonSaysDoesNotMoveIsUnknown) {
  followed_.cpu_uj = [] { return std::uint64_t{4'711}; };
  start();
  followed_.advance(1s);
  followed_.send("/cpu/", wire::encode(wire::UnknownPower{
                              .type = DeviceType::cpu, .id = 0, .reason = "does not move"}));
  followed_.advance(12s);
  EXPECT_EQ(cpu(1s, 11s).energy, std::nullopt) << "neither 0 J nor what was reported before";
}

TEST_F(FollowedEnergy, OfAPowerThatStepsHoldsEachValueUntilTheNext) {
  start();
  followed_.advance(5s);
  followed_.send_gpu(0, 300'000);
  followed_.advance(6s);
  EXPECT_NEAR(joules(gpu(0s, 10s)), 500.0 + 1500.0, 3.0);
}

TEST_F(FollowedEnergy, OfAPowerThatNeverChangesIsTakenForLookedAtOnceASecond) {
  start();
  followed_.advance(30s);
  // The uncertainty between two samples: see `looked_away` in sampling/uncertainty.cpp.
  EXPECT_NEAR(gpu(10s, 20s).uncertainty.si(), 2.0 * 100.0 / std::sqrt(24.0), 1.0);
}

TEST_F(FollowedEnergy, OfAPowerThatChangesIsAsCertainAsItIsLookedAtOften) {
  start();
  change_for(12s);
  EXPECT_NEAR(gpu(6s, 10s).uncertainty.si(), 2.0 * 10.0 / std::sqrt(24.0), 1.0);
  EXPECT_NEAR(joules(gpu(6s, 10s)), 402.0, 1.0);
}

TEST_F(FollowedEnergy, OfADaemonThatMakesUpForLooksIsNoMoreCertain) {
  start();
  change_for(12s);
  const double before = gpu(6s, 10s).uncertainty.si();
  followed_.advance(2s);
  for (int i = 0; i < 20; ++i) change_in(1ms);
  change_for(6s);
  EXPECT_NEAR(gpu(6s, 10s).uncertainty.si(), before, 0.1);
}

TEST_F(FollowedEnergy, OfADaemonThatMayBeAnotherIsNoMoreCertainThanOfAnyOther) {
  start();
  change_for(12s);
  followed_.hang_up("/gpu/");
  followed_.advance(20s);
  EXPECT_GT(gpu(16s, 26s).uncertainty.si(), 40.0);
}

TEST_F(FollowedEnergy, OfMemoryIsThere) {
  start();
  followed_.advance(12s);
  const auto energies = followed_.book.energy(0, begin_ + 1s, begin_ + 11s);
  EXPECT_NEAR(joules(energies.drams.at(0)), 100.0, 0.1);
  EXPECT_EQ(energies.gpus.size(), 2U);
}

TEST_F(FollowedEnergy, ComesFromTheDaemonsCounterWhereThatIsMoreCertain) {
  // The counter sees changes of power between two samples, which the powers miss.
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 123; };
  start();
  for (int i = 0; i < 120; ++i) {
    followed_.advance(100ms);
    followed_.send_gpu(0, i % 2 == 0 ? 20'000 : 200'000);
  }
  EXPECT_NEAR(joules(gpu(1s, 11s)), 1230.0, 2.0);
}

TEST_F(FollowedEnergy, UpToNowIsTheCountersAndThePowersAfterItsLastReading) {
  // What the counter counts is not what the powers say: it shows which is which.
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 120; };
  start();
  followed_.advance(10'500ms);
  const MeasuredEnergy energy = gpu(0s, 10'500ms);
  EXPECT_NEAR(joules(energy), 10 * 120.0 + 0.5 * 100.0, 1.0);
  EXPECT_EQ(energy.unknown.count(), 0.0);
  EXPECT_TRUE(energy.flags.has(Flag::estimated));
  EXPECT_FALSE(energy.flags.has(Flag::gap));
}

TEST_F(FollowedEnergy, UpToNowIsUnknownAfterTheCountersLastReadingWherePowersAreToo) {
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 100; };
  start();
  followed_.advance(5s);
  followed_.transport.is_reachable = false;
  followed_.hang_up("/gpu/");
  followed_.advance(10s);
  const MeasuredEnergy energy = gpu(0s, 15s);
  EXPECT_NEAR(energy.unknown.count(), 10.0, 1.0);
  EXPECT_NEAR(joules(energy), 100.0 * (15.0 - energy.unknown.count()), 1.0);
  EXPECT_TRUE(energy.flags.has(Flag::gap));
}

TEST_F(FollowedEnergy, WithoutAConnectionIsUnknown) {
  start();
  followed_.advance(5s);
  followed_.transport.is_reachable = false;
  followed_.advance(10s);
  followed_.transport.is_reachable = true;
  followed_.advance(45s);
  const MeasuredEnergy energy = gpu(0s, 40s);
  EXPECT_GE(energy.unknown.count(), 9.0);
  EXPECT_LE(joules(energy), 3100.0);
  EXPECT_NEAR(joules(energy), 100.0 * (40.0 - energy.unknown.count()), 1.0);
  EXPECT_TRUE(energy.flags.has(Flag::gap));
}

TEST_F(FollowedEnergy, OfAConnectionThatIsClosedIsAsCertainAsBefore) {
  start();
  followed_.advance(5s);
  const double before_j = gpu(0s, 5s).uncertainty.si();
  followed_.transport.is_reachable = false;
  followed_.hang_up("/gpu/");
  followed_.advance(5s);
  EXPECT_NEAR(gpu(0s, 10s).uncertainty.si(), before_j, 1.0);
}

TEST_F(FollowedEnergy, BeforeTheStartIsUnknown) {
  start();
  followed_.advance(5s);
  EXPECT_NEAR(gpu(-5s, 5s).unknown.count(), 5.0, 0.1);
}

TEST_F(FollowedEnergy, OfADaemonThatStalledHoldsUntilItIsStale) {
  start();
  followed_.answers["/time"] = std::nullopt;
  followed_.advance(9s);
  EXPECT_EQ(followed_.gpu(), ConnectionStatus::stale);
  EXPECT_NEAR(gpu(0s, 9s).unknown.count(), 6.0, 0.2);
}

TEST_F(FollowedEnergy, OfASteadyPowerIsAllOfItAtAnyTimeWhereSignsOfLifeAreRare) {
  start();
  followed_.answers["/time"] = std::nullopt;  // only the daemon's own signs count
  for (auto at = 100ms; at <= 20s; at += 100ms) {
    followed_.advance(100ms);
    if (at % 1900ms == 0ms) followed_.send("/gpu/", ":\n\n");
    EXPECT_EQ(gpu(0s, at).unknown.count(), 0.0) << "after " << at / 1ms << " ms";
  }
}

TEST_F(FollowedEnergy, IsNotConfirmedByAnEventThatComesLate) {
  start();
  followed_.advance(3s);
  const wire::UnixMs before = followed_.daemon_ms();
  followed_.advance(900ms);
  followed_.send("/gpu/", wire::event(wire::encode_event(before, 0, 300'000)));
  followed_.advance(6s);
  EXPECT_NEAR(joules(gpu(0s, 9s)), 3.0 * 100.0 + 6.0 * 300.0, 45.0);
}

TEST_F(FollowedEnergy, UpToNowHasTheFlagGapWhereAPartAfterTheCountersLastReadingIsUnknown) {
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 100; };
  start();
  followed_.advance(3s);
  followed_.answers["/time"] = std::nullopt;
  followed_.answers["/gpu/get_cumulative_energy"] = std::nullopt;
  followed_.advance(9s);
  const MeasuredEnergy energy = gpu(0s, 12s);
  EXPECT_GT(energy.unknown.count(), 5.0);
  EXPECT_NEAR(joules(energy), 100.0 * (12.0 - energy.unknown.count()), 1.0);
  EXPECT_TRUE(energy.flags.has(Flag::gap));
}

/// A daemon restarts after 10 s; its CPU counter restarts at `ticks_after`; 50 W continue.
class Restarted : public FollowedEnergy, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(Restarted, DaemonsCountNothingTwice) {
  std::uint64_t base_uj = 400'000'000;
  std::uint64_t base_ms = 0;
  followed_.cpu_uj = [&] { return base_uj + (since_begin_ms() - base_ms) * 50'000; };
  start();
  followed_.advance(10s);
  base_uj = GetParam();
  base_ms = since_begin_ms();
  followed_.hang_up("/gpu/");
  followed_.hang_up("/cpu/");
  followed_.advance(15s);
  const MeasuredEnergy energy = cpu(0s, 20s);
  EXPECT_LE(joules(energy), 1001.0);
  EXPECT_NEAR(joules(energy), 50.0 * (20.0 - energy.unknown.count()), 2.0);
  EXPECT_GT(energy.unknown.count(), 0.0);
  EXPECT_FALSE(energy.flags.none());
}

// From 0; and from so high that it could pass for the old one.
INSTANTIATE_TEST_SUITE_P(At, Restarted, testing::Values(0, 900'050'000));

/// What is printed line by line: the energy since the start, each 100 ms of `time`. Expects that it
/// is never less than before.
class GrowingEnergy : public FollowedEnergy {
 protected:
  void expect_growth_for(std::chrono::nanoseconds time) {
    for (auto at = 0ns; at < time; at += 100ms) {
      followed_.advance(100ms);
      const auto now = followed_.clock.at() - begin_;
      expect_growth(cpu(0s, now), cpu_j_, "CPU");
      expect_growth(gpu(0s, now), gpu_j_, "GPU");
    }
  }

 private:
  void expect_growth(const MeasuredEnergy& energy, double& before_j, const char* device) const {
    constexpr double kRounding = 1e-6;
    EXPECT_GE(joules(energy), before_j - kRounding)
        << device << " at " << since_begin_ms() << " ms";
    before_j = joules(energy);
  }

  double cpu_j_ = -1.0;
  double gpu_j_ = -1.0;
};

TEST_F(GrowingEnergy, IsThatOfADaemonThatRestarts) {
  std::uint64_t base_ms = 0;
  followed_.cpu_uj = [&] { return (since_begin_ms() - base_ms) * 50'000; };
  followed_.cpu_since_ms = 1'700'000'000'000;
  start();
  expect_growth_for(10s);
  followed_.transport.is_reachable = false;
  followed_.hang_up("/gpu/");  // and of what cannot be reached the other stream ends, too
  expect_growth_for(5s);
  followed_.transport.is_reachable = true;
  followed_.cpu_since_ms = 1'700'000'015'000;
  base_ms = since_begin_ms();
  expect_growth_for(20s);
}

TEST_F(GrowingEnergy, IsThatOfADaemonThatRestartsBetweenTwoReadingsOfItsCounter) {
  std::uint64_t base_ms = 0;
  followed_.cpu_uj = [&] { return (since_begin_ms() - base_ms) * 50'000; };
  followed_.cpu_since_ms = 1'700'000'000'000;
  start();
  expect_growth_for(10s + 600ms);
  followed_.cpu_since_ms = 1'700'000'010'000;
  base_ms = since_begin_ms();
  expect_growth_for(10s);
  EXPECT_EQ(cpu(0s, 20s).unknown.count(), 0.0) << "the powers know the time between two starts";
}

TEST_F(GrowingEnergy, IsThatOfAGpuThatIsLost) {
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 100; };
  start();
  expect_growth_for(5s + 700ms);
  followed_.answers["/gpu/get_cumulative_energy"] = {{.status = 500}};
  expect_growth_for(1s);
  followed_.send("/gpu/", wire::encode(wire::UnknownPower{
                              .type = DeviceType::gpu, .id = 0, .reason = "is lost"}));
  expect_growth_for(10s);
  EXPECT_NEAR(joules(gpu(0s, 16s)), 670.0, 1.0);
}

TEST_F(GrowingEnergy, IsThatOfACounterThatDoesNotMove) {
  followed_.gpu_mj = [] { return 7'000'000; };
  start();
  expect_growth_for(10s);
}

TEST_F(FollowedEnergy, OfACpuGoesOnAfterALostConnectionWhereItsDaemonCountedOn) {
  followed_.cpu_uj = [this] { return 400'000'000 + since_begin_ms() * 50'000; };
  followed_.cpu_since_ms = 1'700'000'000'000;
  start();
  followed_.advance(10s);
  followed_.hang_up("/cpu/");
  followed_.advance(15s);
  const MeasuredEnergy energy = cpu(0s, 20s);
  EXPECT_NEAR(joules(energy), 1000.0, 1.0);
  EXPECT_EQ(energy.unknown.count(), 0.0);
}

TEST_F(FollowedEnergy, OfACpuIsThatOfThePowersWhereItsDaemonCountsAgainThoughNoConnectionWasLost) {
  followed_.cpu_uj = [this] { return 400'000'000 + since_begin_ms() * 50'000; };
  followed_.cpu_since_ms = 1'700'000'000'000;
  start();
  followed_.advance(10s);
  followed_.cpu_since_ms = 1'700'000'010'000;
  followed_.advance(10s);
  const MeasuredEnergy energy = cpu(0s, 19s);
  EXPECT_EQ(energy.unknown.count(), 0.0);
  EXPECT_NEAR(joules(energy), 50.0 * 19.0, 1.0);
  EXPECT_TRUE(energy.flags.has(Flag::estimated));
  EXPECT_FALSE(energy.flags.has(Flag::gap));
}

TEST_F(FollowedEnergy, OfACpuIsRightAroundADaemonThatAnswersLate) {
  // Halted from 5.9 s to 7.3 s: it reads the counter for its answer at the end of that.
  const std::string path = "/cpu/get_cumulative_energy";
  followed_.cpu_uj = [this] { return 400'000'000 + since_begin_ms() * 50'000; };
  start();
  followed_.advance(5900ms);
  followed_.answers[path] = std::nullopt;
  followed_.advance(1400ms);
  followed_.answers.erase(path);
  followed_.advance(4s);
  for (auto end = 6000ms; end <= 10000ms; end += 100ms) {
    const MeasuredEnergy energy = cpu(4s, end);
    const double known_s = Seconds(end - 4s).count() - energy.unknown.count();
    EXPECT_NEAR(joules(energy), 50.0 * known_s, 1.0) << end.count() << " ms";
  }
}

TEST_F(FollowedEnergy, OfAGpusCounterGoesOnAfterALostConnection) {
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 100; };
  start();
  followed_.advance(10s);
  followed_.hang_up("/gpu/");
  followed_.advance(15s);
  const MeasuredEnergy energy = gpu(0s, 20s);
  EXPECT_NEAR(joules(energy), 2000.0, 2.0);
  EXPECT_EQ(energy.unknown.count(), 0.0);
}

TEST_F(FollowedEnergy, OfBothTypesIsAskedForOnceASecond) {
  followed_.gpu_mj = [] { return 1; };
  followed_.cpu_uj = [] { return 1; };
  start();
  followed_.advance(10s);
  EXPECT_NEAR(static_cast<double>(followed_.times_asked("/gpu/get_cumulative_energy")), 11.0, 1.0);
  EXPECT_NEAR(
      static_cast<double>(followed_.times_asked("/cpu/get_cumulative_energy?cpu=true&dram=true")),
      11.0, 1.0);
}

TEST_F(FollowedEnergy, IsNotAskedForAgainWhereADaemonHasNoCounter) {
  start();
  followed_.advance(30s);
  EXPECT_EQ(followed_.times_asked("/gpu/get_cumulative_energy"), 1U);
  EXPECT_EQ(followed_.times_asked("/cpu/get_cumulative_energy?cpu=true&dram=true"), 1U);
}

TEST_F(FollowedEnergy, IsUnknownWhileThisMachineSleeps) {
  followed_.gpu_mj = [this] { return 7'000'000 + since_begin_ms() * 100; };
  start();
  followed_.advance(5s);
  followed_.book.note_suspend();
  followed_.advance(5s);
  EXPECT_GT(gpu(0s, 9s).unknown.count(), 0.0);
}

}  // namespace
}  // namespace wattle::client_test
