#include "units/unit_events.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "fakes/virtual_clock.hpp"

namespace wattle::detail {
namespace {

using namespace std::chrono_literals;
using Kind = UnitEvent::EventKind;

UnitEvent end_of(const UnitEvents::Started& unit) {
  return {.weight = 1, .slot = slot_of(unit.id), .kind = Kind::end};
}

TEST(UnitWeight, IsANumberInItsRange) {
  EXPECT_EQ(weight_steps(1.0), 1 << 20);
  EXPECT_EQ(weight_steps(1e-6), 1);
  EXPECT_TRUE(weight_steps(1e6));
  for (const double wrong : {0.0, -1.0, 1e-7, 1e7, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(weight_steps(wrong)) << wrong;
  }
}

TEST(UnitEvents, ComeInTheOrderOfTheirTimesFromAllThreads) {
  UnitEvents events(machine_clock());
  const auto work = [&] {
    for (int i = 0; i < 1'000; ++i) {
      const auto unit = events.begin(1, 1, 0);
      (void)events.leave(end_of(*unit), unit->at_ns);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  std::vector<UnitEvent> drained;
  while (drained.size() < 4'000) (void)events.drain(drained);
  for (std::thread& thread : threads) thread.join();
  while (drained.size() < 8'000) (void)events.drain(drained);
  EXPECT_TRUE(std::ranges::is_sorted(drained, {}, &UnitEvent::at_ns));
  EXPECT_EQ(events.running(), 0U);
}

TEST(UnitEvents, FromTheTimeOfTheDrainOnWait) {
  fakes::VirtualClock clock;
  UnitEvents events(clock);
  (void)events.begin(1, 1, 0);
  std::vector<UnitEvent> drained;
  EXPECT_EQ(events.drain(drained), clock.at());
  EXPECT_TRUE(drained.empty());
  clock.advance(1ns);
  (void)events.drain(drained);
  EXPECT_EQ(drained.size(), 1U);
}

TEST(UnitEvents, OfOneUnitAreNeverAtTheSameTime) {
  fakes::VirtualClock clock;
  UnitEvents events(clock);
  const auto unit = events.begin(1, 1, 0);
  EXPECT_GT(events.leave(end_of(*unit), unit->at_ns), unit->at_ns);
}

TEST(UnitEvents, GiveASlotAgainWithAnotherId) {
  fakes::VirtualClock clock;
  UnitEvents events(clock);
  const UnitId first = events.begin(1, 1, 0)->id;
  EXPECT_NE(first, 0U);
  events.release(std::vector<UnitId>{first});
  std::vector<UnitId> ids = {first};
  for (int i = 0; i < 600; ++i) ids.push_back(events.begin(1, 1, 0)->id);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_EQ(std::ranges::count_if(ids, [&](UnitId id) { return slot_of(id) == slot_of(first); }),
            2);
}

TEST(UnitEvents, DoNothingInAChild) {
  fakes::VirtualClock clock;
  UnitEvents events(clock);
  const auto unit = events.begin(1, 1, 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_right = !events.begin(1, 1, 0) && events.is_copy() &&
                          events.leave(end_of(*unit), 7) == 7 && events.running() == 0;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(events.running(), 1U);
}

}  // namespace
}  // namespace wattle::detail
