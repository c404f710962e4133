// Devices that are read in lanes when somebody asks, and which have no lane.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "fakes/gated_sensor.hpp"
#include "fakes/virtual_clock.hpp"
#include "known_history.hpp"
#include "sampling/readings.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// Two devices that are read at the start, and then only if somebody asks; at the end their gates
/// are open.
class AskedReadings : public testing::Test {
 protected:
  AskedReadings() {
    std::vector<ReadingWork> work;
    for (unsigned i = 0; i < 2; ++i) {
      Channel channel = whole_watts();
      channel.domain = Domain::nvidia_gpu(i);
      ReadingWork& device = work.emplace_back(
          ReadingWork{.lane = {.period = 1h, .only_when_asked = true}, .is_slow = false});
      histories_.push_back(&device
                                .add(std::make_shared<fakes::GatedSensor>(
                                         std::vector{channel}, gates_.at(i), machine_clock()),
                                     ChannelSet(1), kMinTimelineBytes)
                                .front());
    }
    readings_.emplace(std::move(work), machine_clock());
    readings_->wait_for_first(soon());
  }
  ~AskedReadings() override {
    for (const auto& gate : gates_) gate->open();
  }
  AskedReadings(const AskedReadings&) = delete;
  AskedReadings& operator=(const AskedReadings&) = delete;

  [[nodiscard]] static TimePoint soon() { return machine_clock().now() + fakes::kLongWait; }
  [[nodiscard]] std::pair<int, int> reads() const { return {gates_[0]->reads, gates_[1]->reads}; }

  std::array<std::shared_ptr<fakes::Gate>, 2> gates_{std::make_shared<fakes::Gate>(),
                                                     std::make_shared<fakes::Gate>()};
  std::vector<const History*> histories_;
  std::optional<Readings> readings_;
};

TEST_F(AskedReadings, HaveReadOnceWhenTheFirstReadingIsDone) {
  EXPECT_EQ(reads(), std::pair(1, 1));
}

TEST_F(AskedReadings, ReadEveryDeviceNow) {
  EXPECT_TRUE(readings_->read_now(soon()));
  EXPECT_EQ(reads(), std::pair(2, 2));
  gates_[0]->shut();
  EXPECT_FALSE(readings_->read_now(machine_clock().now() + 1ms)) << "one does not answer";
}

TEST_F(AskedReadings, CatchUpWithTheDevicesWhoseNewestValueIsTooOld) {
  const std::vector<const History*> second{nullptr, histories_[1]};
  readings_->catch_up(second, machine_clock().now() - 1h, soon());
  EXPECT_EQ(reads(), std::pair(1, 1)) << "what is there is new enough";
  readings_->catch_up(second, machine_clock().now(), soon());
  EXPECT_EQ(reads(), std::pair(1, 2)) << "nobody asked for the first one";
}

TEST_F(AskedReadings, AreAskedNoMoreAfterTheyWereStopped) {
  readings_->stop(soon());
  EXPECT_FALSE(readings_->read_now(machine_clock().now() + 1ms));
  EXPECT_EQ(reads(), std::pair(1, 1));
}

/// Collects the answers to questions, and gives them to their callers on request. Threads: any.
class PostedAnswers {
 public:
  [[nodiscard]] WaitingQuestions::Post post() {
    return [this](std::function<void()> work) {
      const std::scoped_lock lock(mutex_);
      posted_.push_back(std::move(work));
    };
  }
  [[nodiscard]] std::size_t run() {
    std::vector<std::function<void()>> posted;
    {
      const std::scoped_lock lock(mutex_);
      posted.swap(posted_);
    }
    for (const auto& work : posted) work();
    return posted.size();
  }

 private:
  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
};

/// A device that is read only when it is asked.
class SleepingReadings : public testing::Test {
 protected:
  SleepingReadings() {
    std::vector<ReadingWork> work(1);
    work[0].lane = {.period = 1h, .sleeps = true};
    history_ = &work[0]
                    .add(std::make_shared<fakes::GatedSensor>(std::vector{whole_watts()}, gate_,
                                                              machine_clock()),
                         kPower, kMinTimelineBytes)
                    .front();
    readings_.emplace(std::move(work), machine_clock());
  }
  ~SleepingReadings() override {
    gate_->open();
    readings_->stop(machine_clock().now() + fakes::kLongWait);
  }
  SleepingReadings(const SleepingReadings&) = delete;
  SleepingReadings& operator=(const SleepingReadings&) = delete;

  void ask(const DeviceQuestion& question = {.channels = kPower}) {
    readings_->ask(
        0, question, now_,
        [this](const DeviceAnswer& answer) {
          EXPECT_EQ(answer.end, QuestionEnd::answered);
          shown_.push_back(answer.readings.at(0).raw);
        },
        answers_.post());
  }
  /// What was answered, once there is that much.
  std::vector<std::uint64_t> shown(std::size_t count) {
    EXPECT_TRUE(fakes::eventually([&] {
      (void)answers_.run();
      return shown_.size() >= count;
    }));
    return shown_;
  }

  static constexpr ChannelSet kPower{1};
  std::shared_ptr<fakes::Gate> gate_ = std::make_shared<fakes::Gate>();
  PostedAnswers answers_;
  const History* history_ = nullptr;
  std::optional<Readings> readings_;
  std::vector<std::uint64_t> shown_;
  TimePoint now_ = machine_clock().now();
};

TEST_F(SleepingReadings, ReadNothingBeforeTheyAreAsked) {
  ask();
  EXPECT_EQ(shown(1), std::vector<std::uint64_t>{1}) << "the first reading of all";
  EXPECT_EQ(history_->values().size(), 0U) << "answers are not kept";
}

TEST_F(SleepingReadings, GiveOneAnswerToAllWhoAskedBeforeItsReading) {
  gate_->shut();
  ask();
  ASSERT_TRUE(fakes::eventually([&] { return gate_->waiting.load(); }));
  for (int i = 0; i < 3; ++i) ask();
  gate_->open();
  EXPECT_EQ(shown(4), (std::vector<std::uint64_t>{1, 2, 2, 2}));
}

TEST_F(SleepingReadings, GiveAnAnswerOfItsOwnToEachKindOfQuestion) {
  ask({.channels = kPower, .processes = true});
  ask();
  EXPECT_EQ(shown(2), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(SleepingReadings, TakeReadingsThatAreNewEnoughForAQuestion) {
  ask();
  (void)shown(1);
  ask({.channels = kPower, .longest_age = 1h});
  EXPECT_EQ(shown(2), (std::vector<std::uint64_t>{1, 1}));
}

TEST_F(SleepingReadings, SaySinceWhenSomebodyWaits) {
  gate_->shut();
  EXPECT_FALSE(readings_->has_waited(0, now_));
  ask();
  EXPECT_FALSE(readings_->has_waited(0, now_ - 1ns));
  EXPECT_TRUE(readings_->has_waited(0, now_));
  gate_->open();
  (void)shown(1);
  EXPECT_FALSE(readings_->has_waited(0, now_));
}

TEST_F(SleepingReadings, SaySoWhileOthersWaitForALaterAnswer) {
  gate_->shut();
  ask();
  ASSERT_TRUE(fakes::eventually([&] { return gate_->waiting.load(); }));
  const TimePoint first = std::exchange(now_, now_ + 1s);
  ask();
  EXPECT_TRUE(readings_->has_waited(0, first));
  gate_->open();
  (void)shown(2);
  EXPECT_FALSE(readings_->has_waited(0, now_));
}

TEST_F(SleepingReadings, KeepWhatTheyReadAtATick) {
  readings_->tick();
  EXPECT_TRUE(fakes::eventually([&] { return history_->values().size() == 1; }));
}

TEST_F(SleepingReadings, LeaveOutTicksWhileTheDeviceHangs) {
  gate_->shut();
  readings_->tick();
  ASSERT_TRUE(fakes::eventually([&] { return gate_->waiting.load(); }));
  for (int i = 0; i < 10; ++i) readings_->tick();
  gate_->open();
  readings_->stop(machine_clock().now() + fakes::kLongWait);
  EXPECT_EQ(gate_->reads, 1);
}

/// Work of one device, which takes readings that are up to half an hour old.
std::vector<ReadingWork> shared_work(LaneOptions lane, const std::shared_ptr<fakes::Gate>& gate,
                                     const TimeSource& clock) {
  lane.period = 1h;
  lane.longest_age = 30min;
  std::vector<ReadingWork> work(1);
  work[0].lane = lane;
  work[0].add(std::make_shared<fakes::GatedSensor>(std::vector{whole_watts()}, gate, clock),
              ChannelSet(1), kMinTimelineBytes);
  return work;
}

/// What one device answers, once it does.
std::uint64_t asked_once(Readings& readings, const DeviceQuestion& question) {
  PostedAnswers answers;
  std::uint64_t shown = 0;
  readings.ask(
      0, question, machine_clock().now(),
      [&](const DeviceAnswer& answer) {
        EXPECT_EQ(answer.end, QuestionEnd::answered);
        shown = answer.readings.at(0).raw;
      },
      answers.post());
  EXPECT_TRUE(fakes::eventually([&] { return answers.run() > 0; }));
  return shown;
}

TEST(ReadingsThatAreShared, IncludeThoseThatAreReadOnRequest) {
  const auto gate = std::make_shared<fakes::Gate>();
  Readings readings(shared_work({.only_when_asked = true}, gate, machine_clock()), machine_clock());
  readings.wait_for_first(machine_clock().now() + fakes::kLongWait);
  EXPECT_EQ(asked_once(readings, {.channels = 1, .longest_age = 30min}), 1U);
  EXPECT_TRUE(readings.read_now(machine_clock().now() + fakes::kLongWait));
  EXPECT_EQ(asked_once(readings, {.channels = 1, .longest_age = 30min}), 2U)
      << "else the lane would read the first one again";
}

TEST(ReadingsThatAreShared, AreNotThoseFromBeforeASuspend) {
  fakes::VirtualClock clock;
  const auto gate = std::make_shared<fakes::Gate>();
  Readings readings(shared_work({.sleeps = true}, gate, clock), clock);
  EXPECT_EQ(asked_once(readings, {.channels = 1}), 1U);
  readings.tick();
  ASSERT_TRUE(fakes::eventually([&] { return readings.lane_ticks() == 1; }));
  EXPECT_EQ(gate->reads, 1) << "it is new enough";
  clock.suspend(1h);
  EXPECT_TRUE(fakes::eventually([&] {
    readings.tick();
    return gate->reads > 1;
  }));
  readings.stop(machine_clock().now() + fakes::kLongWait);
  EXPECT_EQ(gate->reads, 2);
}

TEST(ReadingsOfNamedDomains, HaveNoLaneForADeviceOfWhichNothingIsRead) {
  const auto gate = std::make_shared<fakes::Gate>();
  const auto readings_of = [&](std::optional<std::vector<Domain>> domains) {
    std::vector<std::unique_ptr<Sensor>> sensors;
    for (unsigned i = 0; i < 3; ++i) {
      Channel channel = whole_watts();
      channel.domain = Domain::nvidia_gpu(i);
      sensors.push_back(
          std::make_unique<fakes::GatedSensor>(std::vector{channel}, gate, machine_clock()));
    }
    return std::make_unique<Readings>(std::move(sensors), machine_clock(),
                                      ReadingsOptions{.domains = std::move(domains)});
  };
  EXPECT_EQ(readings_of({{Domain::nvidia_gpu(1)}})->lane_threads(), 1U);
  EXPECT_EQ(readings_of({})->lane_threads(), 3U);
}

TEST(ReadingsInTheCallersThread, HaveNoLane) {
  const auto gate = std::make_shared<fakes::Gate>();
  std::vector<ReadingWork> work;
  work.push_back({.is_prompt = true});
  work.back().add(
      std::make_shared<fakes::GatedSensor>(std::vector{whole_watts()}, gate, machine_clock()),
      ChannelSet(1), kMinTimelineBytes);
  Readings readings(std::move(work), machine_clock());
  EXPECT_EQ(readings.lane_threads(), 0U);
  EXPECT_EQ(gate->reads, 0);
  readings.read();
  EXPECT_EQ(gate->reads, 1);
  EXPECT_FALSE(readings.read_now(TimePoint::max())) << "there is nothing to ask";
}

TEST(ReadingsInTheCallersThread, AnswerBeforeTheyReturnButPostTheAnswer) {
  const auto gate = std::make_shared<fakes::Gate>();
  std::vector<ReadingWork> work;
  work.push_back({.is_prompt = true});
  work.back().add(
      std::make_shared<fakes::GatedSensor>(std::vector{whole_watts()}, gate, machine_clock()),
      ChannelSet(1), kMinTimelineBytes);
  Readings readings(std::move(work), machine_clock());
  PostedAnswers answers;
  std::uint64_t shown = 0;
  readings.ask(
      0, {.channels = 1}, machine_clock().now(),
      [&](const DeviceAnswer& answer) { shown = answer.readings.at(0).raw; }, answers.post());
  EXPECT_EQ(gate->reads, 1);
  EXPECT_EQ(shown, 0U);
  EXPECT_EQ(answers.run(), 1U);
  EXPECT_EQ(shown, 1U);
}

}  // namespace
}  // namespace wattle
