// Real threads: what is asserted are counts and orders, never how long something took.
#include "sampling/lane.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "fakes/gated_sensor.hpp"
#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;
using fakes::Gate;
using fakes::GatedSensor;
using testing::SizeIs;

/// The machine's time, on a machine that sleeps when a test says so.
class SleepyClock final : public TimeSource {
 public:
  [[nodiscard]] TimePoint now() const noexcept override { return machine_clock().now(); }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return suspended_; }
  void suspend(std::chrono::nanoseconds time) { suspended_ = suspended_.load() + time; }

 private:
  std::atomic<std::chrono::nanoseconds> suspended_{0ns};
};

/// Never reads by itself once it has begun.
constexpr LaneOptions kOnlyAsked{.period = 24h * 3650, .only_when_asked = true};
constexpr LaneOptions kQuick{.period = 1ms};

Channel counter() {
  return {.domain = Domain::nvidia_gpu(0),
          .counter = {.tick = Joules(1.0), .max_power = Watts(1e6)}};
}

LaneTask task(const std::shared_ptr<Gate>& gate, std::vector<Channel> channels = {counter()},
              const LaneOptions& options = kOnlyAsked) {
  const std::size_t count = channels.size();
  ChannelSet all;
  for (std::size_t i = 0; i < count; ++i) all.set(i);
  auto sensor = std::make_shared<GatedSensor>(std::move(channels), gate, machine_clock());
  return {.recorder = std::make_unique<Recorder>(std::move(sensor), all,
                                                 HistoryOptions{.period = options.period})};
}

std::vector<LaneTask> tasks(LaneTask first) {
  std::vector<LaneTask> tasks;
  tasks.push_back(std::move(first));
  return tasks;
}

std::vector<LaneTask> tasks(LaneTask first, LaneTask second) {
  std::vector<LaneTask> both = tasks(std::move(first));
  both.push_back(std::move(second));
  return both;
}

std::optional<Lane::Boundaries> read_now(Lane& lane) {
  return lane.wait_for(lane.ask(), machine_clock().now() + fakes::kLongWait);
}

class LaneTest : public testing::Test {
 protected:
  LaneTest() = default;
  ~LaneTest() override { gate_->open(); }

  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::shared_ptr<Gate> other_ = std::make_shared<Gate>();
};

TEST_F(LaneTest, ReadsWhenItStarts) {
  const Lane lane(tasks(task(gate_)), kOnlyAsked, machine_clock());
  EXPECT_TRUE(eventually([&] { return lane.ticks() == 1; }));
  EXPECT_EQ(gate_->reads, 1);
}

TEST_F(LaneTest, ReadsAtItsPeriod) {
  const Lane lane(tasks(task(gate_)), kQuick, machine_clock());
  EXPECT_TRUE(eventually([&] { return lane.ticks() >= 20; }));
}

TEST_F(LaneTest, AnswersWithAReadingThatBeganAfterItWasAsked) {
  Lane lane(tasks(task(gate_)), kOnlyAsked, machine_clock());
  for (int i = 0; i < 50; ++i) {
    const TimePoint before = machine_clock().now();
    const auto boundaries = read_now(lane);
    ASSERT_TRUE(boundaries);
    ASSERT_THAT(*boundaries, SizeIs(1));
    EXPECT_GE(boundaries->at(0)->at, before);
  }
}

TEST_F(LaneTest, DoesNotAnswerWithAReadingThatWasUnderWay) {
  gate_->shut();
  Lane lane(tasks(task(gate_)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(eventually([&] { return gate_->waiting.load(); }));
  const std::uint64_t asked = lane.ask();
  gate_->open();
  ASSERT_TRUE(lane.wait_for(asked, machine_clock().now() + fakes::kLongWait));
  EXPECT_EQ(gate_->reads, 2);
}

TEST_F(LaneTest, AnswersOnceToSeveralWhoAskedMeanwhile) {
  gate_->shut();
  Lane lane(tasks(task(gate_)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(eventually([&] { return gate_->waiting.load(); }));
  const std::uint64_t first = lane.ask();
  const std::uint64_t second = lane.ask();
  gate_->open();
  EXPECT_TRUE(lane.wait_for(second, machine_clock().now() + fakes::kLongWait));
  EXPECT_TRUE(lane.wait_for(first, machine_clock().now()));
  EXPECT_EQ(gate_->reads, 2);
}

TEST_F(LaneTest, AnswersInTheOrderOfItsTasksForTheirCounters) {
  Lane lane(tasks(task(gate_, {whole_watts(), counter()}), task(other_)), kOnlyAsked,
            machine_clock());
  const auto boundaries = read_now(lane);
  ASSERT_TRUE(boundaries);
  ASSERT_THAT(*boundaries, SizeIs(3));
  EXPECT_FALSE(boundaries->at(0)) << "a gauge";
  EXPECT_TRUE(boundaries->at(1));
  EXPECT_TRUE(boundaries->at(2));
}

TEST_F(LaneTest, AnswersWithoutACounterThatCouldNotBeRead) {
  Lane lane(tasks(task(gate_), task(other_)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(read_now(lane));
  other_->status = ReadStatus::retry;
  const auto boundaries = read_now(lane);
  ASSERT_TRUE(boundaries);
  EXPECT_TRUE(boundaries->at(0));
  EXPECT_FALSE(boundaries->at(1)) << "not what it showed before";
}

TEST_F(LaneTest, DoesNotAnswerBeforeTheDeadlineWhileASensorHangs) {
  Lane lane(tasks(task(gate_)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(read_now(lane));
  gate_->shut();
  const std::uint64_t asked = lane.ask();
  const TimePoint deadline = machine_clock().now() + 20ms;
  EXPECT_FALSE(lane.wait_for(asked, deadline));
  EXPECT_GE(machine_clock().now(), deadline);
  gate_->open();
  EXPECT_TRUE(lane.wait_for(asked, machine_clock().now() + fakes::kLongWait)) << "but later";
}

TEST_F(LaneTest, DoesNotHoldUpOtherLanes) {
  gate_->shut();
  const Lane stuck(tasks(task(gate_)), kQuick, machine_clock());
  const Lane free(tasks(task(other_)), kQuick, machine_clock());
  ASSERT_TRUE(eventually([&] { return gate_->waiting.load(); }));
  const std::uint64_t before = free.ticks();
  EXPECT_TRUE(eventually([&] { return free.ticks() >= before + 20; }));
  EXPECT_EQ(stuck.ticks(), 0U);
}

TEST_F(LaneTest, CountsTheDeadlinesItMissedAndDoesNotMakeUpForThem) {
  Lane lane(tasks(task(gate_)), {.period = 10ms}, machine_clock());
  ASSERT_TRUE(eventually([&] { return lane.ticks() >= 2; }));
  gate_->shut();
  ASSERT_TRUE(eventually([&] { return gate_->waiting.load(); }));
  const int reads = gate_->reads;
  const TimePoint held_until = machine_clock().now() + 200ms;
  ASSERT_TRUE(eventually([&] { return machine_clock().now() >= held_until; }));
  gate_->open();
  EXPECT_TRUE(eventually([&] { return gate_->reads > reads; }));
  EXPECT_TRUE(eventually([&] { return lane.missed() >= 15; }));
  EXPECT_TRUE(lane.stop(fakes::kLongWait));
  const auto elapsed = machine_clock().now() - held_until;
  EXPECT_LE(gate_->reads - reads, elapsed / 10ms + 3) << "no burst";
}

TEST_F(LaneTest, StopsItsThread) {
  auto lane = std::make_unique<Lane>(tasks(task(gate_)), kQuick, machine_clock());
  EXPECT_TRUE(lane->stop(fakes::kLongWait));
  const int reads = gate_->reads;
  EXPECT_FALSE(lane->wait_for(lane->ask(), machine_clock().now() + 5ms));
  EXPECT_EQ(gate_->reads, reads);
  lane.reset();
  EXPECT_TRUE(eventually([&] { return gate_->destroyed.load(); }));
}

TEST_F(LaneTest, AbandonsAThreadThatIsStuck) {
  gate_->shut();
  auto lane = std::make_unique<Lane>(tasks(task(gate_)), kQuick, machine_clock());
  ASSERT_TRUE(eventually([&] { return gate_->waiting.load(); }));
  EXPECT_FALSE(lane->stop(1ms));
  lane.reset();
  EXPECT_FALSE(gate_->destroyed) << "the thread is in there";
  gate_->open();
  EXPECT_TRUE(eventually([&] { return gate_->destroyed.load(); }));
  EXPECT_EQ(gate_->reads, 1);
}

TEST_F(LaneTest, ReadsATaskAtEveryFewTicks) {
  LaneTask seldom = task(other_);
  seldom.every = 3;
  Lane lane(tasks(task(gate_), std::move(seldom)), kQuick, machine_clock());
  ASSERT_TRUE(eventually([&] { return lane.ticks() >= 20; }));
  ASSERT_TRUE(lane.stop(fakes::kLongWait));
  const auto ticks = static_cast<int>(lane.ticks());
  EXPECT_EQ(gate_->reads, ticks);
  EXPECT_EQ(other_->reads, (ticks + 2) / 3) << "at the first, the fourth ...";
}

TEST_F(LaneTest, ReadsEveryTaskWhenItIsAsked) {
  LaneTask seldom = task(other_);
  seldom.every = 1000;
  Lane lane(tasks(task(gate_), std::move(seldom)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(eventually([&] { return lane.ticks() == 1; }));
  ASSERT_TRUE(read_now(lane));
  EXPECT_EQ(other_->reads, 2);
}

TEST_F(LaneTest, ListsTheProcessesOfTheTasksThatAreAskedTo) {
  LaneTask listed = task(gate_);
  listed.lists_processes = true;
  const Lane lane(tasks(std::move(listed), task(other_)), kQuick, machine_clock());
  ASSERT_TRUE(eventually([&] { return lane.processes(0).number >= 3; }));
  const ProcessList list = lane.processes(0);
  ASSERT_TRUE(list.processes);
  ASSERT_THAT(*list.processes, SizeIs(1));
  EXPECT_EQ(list.processes->at(0).pid, 1234);
  EXPECT_LE(list.at, machine_clock().now());
  EXPECT_EQ(lane.processes(1).number, 0U);
}

TEST_F(LaneTest, ListsProcessesThatTheDriverDoesNotReportAsAbsent) {
  gate_->tells_processes = false;
  LaneTask listed = task(gate_);
  listed.lists_processes = true;
  const Lane lane(tasks(std::move(listed)), kQuick, machine_clock());
  ASSERT_TRUE(eventually([&] { return lane.processes(0).number >= 1; }));
  EXPECT_FALSE(lane.processes(0).processes);
}

TEST_F(LaneTest, ReadsLessOftenWhereReadingTakesLong) {
  constexpr LaneOptions kBacksOff{.period = 5ms, .longest_backoff = 8};
  gate_->delay = 1ms;
  const Lane lane(tasks(task(gate_, {whole_watts()}, kBacksOff)), kBacksOff, machine_clock());
  const History& history = lane.tasks()[0].recorder->histories()[0];
  EXPECT_TRUE(eventually([&] { return history.valid_for() == 40ms + 100ms; }));
}

TEST_F(LaneTest, DoesNotTakeWhatItIsAskedForForItsRate) {
  constexpr LaneOptions kBacksOff{.period = 24h * 365, .longest_backoff = 8};
  gate_->delay = 1ms;
  Lane lane(tasks(task(gate_, {whole_watts()}, kBacksOff)), kBacksOff, machine_clock());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(read_now(lane));
  EXPECT_EQ(lane.tasks()[0].recorder->histories()[0].spacing(), kBacksOff.period);
}

TEST_F(LaneTest, KnowsNothingOfTheTimeInWhichTheMachineSlept) {
  // Outlives the thread.
  static SleepyClock clock;
  Lane lane(tasks(task(gate_)), kOnlyAsked, clock);
  const auto before = read_now(lane);
  clock.suspend(1h);
  const auto after = read_now(lane);
  ASSERT_TRUE(before && after);
  const History& history = lane.tasks()[0].recorder->histories()[0];
  const TimePoint from = before->at(0)->at;
  const TimePoint to = after->at(0)->at;
  EXPECT_EQ(history.condition(from, to).unknown, to - from);
}

TEST_F(LaneTest, ReceivesNoSignals) {
  Lane lane(tasks(task(gate_)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(read_now(lane));
  EXPECT_TRUE(gate_->signals_are_blocked);
}

/// Runs `look` in a forked child, and gives what it returns; -1 where it hung or crashed.
template <class Look>
int in_a_child(Look look) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned kHangs = 30;
    ::alarm(kHangs);
    ::_exit(look());
  }
  int status = 0;
  const bool ended = ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  return ended ? WEXITSTATUS(status) : -1;
}

/// 0 if all is well.
int use_in_vain(std::unique_ptr<Lane> lane) {
  const TimePoint far = machine_clock().now() + 1h;
  if (lane->ask() != 0) return 1;
  if (lane->wait_for(1, far)) return 2;
  if (!lane->stop(1h)) return 3;
  if (lane->processes(0).number != 0) return 4;
  lane.reset();
  return 0;
}

TEST_F(LaneTest, IsInertInAForkedChild) {
  LaneTask listed = task(gate_);
  listed.lists_processes = true;
  auto lane = std::make_unique<Lane>(tasks(std::move(listed)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(eventually([&] { return lane->processes(0).number > 0; }));
  gate_->shut();
  (void)lane->ask();
  ASSERT_TRUE(eventually([&] { return gate_->waiting.load(); }));
  EXPECT_EQ(in_a_child([&] { return use_in_vain(std::move(lane)); }), 0);
  gate_->open();
  EXPECT_TRUE(read_now(*lane)) << "and the parent's goes on";
}

TEST_F(LaneTest, LeavesTheSensorsOfAForkedChildAlone) {
  auto lane = std::make_unique<Lane>(tasks(task(gate_)), kOnlyAsked, machine_clock());
  ASSERT_TRUE(lane->stop(fakes::kLongWait));
  const auto destroy = [&] {
    lane.reset();
    return gate_->destroyed ? 1 : 0;
  };
  EXPECT_EQ(in_a_child(destroy), 0) << "though no thread holds them any more";
}

}  // namespace
}  // namespace wattle
