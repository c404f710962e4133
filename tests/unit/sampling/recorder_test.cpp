#include "sampling/recorder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "fakes/gated_sensor.hpp"
#include "fakes/virtual_clock.hpp"
#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(Recorder, KeepsAHistoryOfEachChosenChannel) {
  const auto gate = std::make_shared<fakes::Gate>();
  const fakes::VirtualClock clock;
  Recorder recorder(
      std::make_shared<fakes::GatedSensor>(
          std::vector<Channel>{half_joules(), whole_watts(), half_joules()}, gate, clock),
      ChannelSet(0b110), {.period = 100ms});
  recorder.read();
  ASSERT_EQ(recorder.histories().size(), 2U);
  EXPECT_FALSE(recorder.histories()[0].is_counter());
  EXPECT_TRUE(recorder.histories()[1].is_counter());
  EXPECT_EQ(recorder.histories()[0].values().size(), 1U);
  EXPECT_EQ(recorder.histories()[1].values().size(), 1U);
}

TEST(Recorder, OfNoChannelLeavesTheSensorAlone) {
  const auto gate = std::make_shared<fakes::Gate>();
  const fakes::VirtualClock clock;
  Recorder recorder(
      std::make_shared<fakes::GatedSensor>(std::vector<Channel>{half_joules()}, gate, clock), {},
      {.period = 100ms});
  recorder.read();
  EXPECT_EQ(gate->reads, 0);
}

TEST(SuspendWatch, ReportsEachSuspendOnce) {
  fakes::VirtualClock clock;
  clock.suspend(1h);
  SuspendWatch watch(clock);
  EXPECT_FALSE(watch.was_suspended()) << "that was before";
  clock.suspend(1s);
  EXPECT_TRUE(watch.was_suspended());
  EXPECT_FALSE(watch.was_suspended());
}

TEST(SuspendWatch, TakesTheNoiseOfTwoClocksForNone) {
  fakes::VirtualClock clock;
  SuspendWatch watch(clock);
  clock.suspend(400ms);
  EXPECT_FALSE(watch.was_suspended());
  clock.suspend(-400ms);
  EXPECT_FALSE(watch.was_suspended());
}

/// A machine on which the thread is displaced between two clocks at one look: it sees 2 s of sleep.
class DisplacedOnce final : public TimeSource {
 public:
  explicit DisplacedOnce(int look) : look_(look) {}
  [[nodiscard]] TimePoint now() const noexcept override { return kBegin; }
  [[nodiscard]] nanoseconds suspended() const noexcept override {
    return slept_ + (looks_++ == look_ ? nanoseconds(2s) : nanoseconds(0));
  }
  void sleep(nanoseconds time) { slept_ += time; }

 private:
  int look_;
  nanoseconds slept_{0};
  mutable int looks_ = 0;
};

TEST(SuspendWatch, TakesAThreadThatWasDisplacedForNone) {
  DisplacedOnce clock(1);
  SuspendWatch watch(clock);
  EXPECT_FALSE(watch.was_suspended());
}

TEST(SuspendWatch, ReportsASuspendAfterAFirstLookThatSawTooMuch) {
  DisplacedOnce clock(0);
  SuspendWatch watch(clock);
  EXPECT_FALSE(watch.was_suspended());
  clock.sleep(1s);
  EXPECT_TRUE(watch.was_suspended());
}

}  // namespace
}  // namespace wattle
