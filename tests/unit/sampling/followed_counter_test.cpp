// Counters that the kernel makes by following a narrower register: 64 bits that never wrap, but
// that are too small, or fall, where the kernel looked too late.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "known_history.hpp"
#include "sampling/counters/counter.hpp"
#include "sampling/integrate.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr Joules kTick{1.0 / 65536.0};
constexpr std::uint64_t kTicksPerJoule = 65536;
/// Half the turn of a 32-bit register: 32,768 J.
constexpr std::uint64_t kHalfTurn = std::uint64_t{1} << 31U;
constexpr CounterTraits kFollowed{
    .tick = kTick, .followed_ticks = kHalfTurn, .max_power = Watts(2000.0)};

CounterUnwrap begun_at(std::uint64_t raw) {
  CounterUnwrap unwrap(kFollowed, kRaplUpdate.p99);
  (void)unwrap.update(raw, kBegin);
  return unwrap;
}

TEST(FollowedCounter, RisesBeyondThirtyTwoBits) {
  CounterUnwrap unwrap = begun_at(0xFFFF'FFFFU);
  const CounterStep step = unwrap.update(0xFFFF'FFFFU + 100 * kTicksPerJoule, kBegin + 1s);
  EXPECT_EQ(step, (CounterStep{.kind = StepKind::forward, .ticks = 100 * kTicksPerJoule}));
}

TEST(FollowedCounter, IsAmbiguousWhereTheKernelCanHaveLostTrack) {
  // 2000 W take 16.4 s for half a turn.
  EXPECT_FALSE(begun_at(0).update(1, kBegin + 16s).ambiguous);
  const CounterStep step = begun_at(0).update(1, kBegin + 17s);
  EXPECT_TRUE(step.ambiguous);
  EXPECT_EQ(step.kind, StepKind::forward);
  EXPECT_EQ(step.ticks, 1U);
}

TEST(FollowedCounter, ThatFellIsResetHoweverLongItTook) {
  for (const auto elapsed : {1s, 60s, 3600s}) {
    const CounterStep step = begun_at(1000).update(999, kBegin + elapsed);
    EXPECT_EQ(step.kind, StepKind::reset) << "how much is missing cannot be told";
    EXPECT_EQ(step.ticks, 0U);
  }
}

TEST(FollowedCounter, IsKeptByAReadWithinAQuarterTurn) {
  EXPECT_EQ(keeper_period(kFollowed), 8192ms) << "16,384 J at 2000 W";
  CounterTraits slow = kFollowed;
  slow.max_power = Watts(1.0);
  EXPECT_EQ(keeper_period(slow), 60s);
}

TEST(FollowedCounter, GivesALowerBoundOfEnergyWhereTheKernelLostTrack) {
  const Channel channel{.domain = Domain::package(0), .counter = kFollowed, .update = kRaplUpdate};
  History history(channel, {});
  const auto read = [&](std::chrono::seconds at, std::uint64_t joules) {
    history.add({.at = kBegin + at, .raw = joules * kTicksPerJoule, .status = ReadStatus::ok});
  };
  read(0s, 70'000);
  read(10s, 71'000);
  read(1000s, 60'000);  // not read for long: the kernel took an advance for a fall
  read(1010s, 61'500);
  const EnergyFigure figure = counter_energy(history, {kBegin, kBegin + 1010s});
  EXPECT_EQ(figure.energy, Joules(2500.0));
  EXPECT_EQ(figure.unknown, Seconds(990.0));
  EXPECT_TRUE(figure.flags.has(Flag::reset));
}

}  // namespace
}  // namespace wattle
