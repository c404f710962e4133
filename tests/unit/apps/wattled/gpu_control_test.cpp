// Settings of GPUs beside their readings, and at the daemon's end, in virtual time.
#include "control/gpu_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// What a driver was asked, in order; a call waits while the gate is shut. Thread-safe.
class Driver {
 public:
  void call(const std::string& what) {
    {
      const std::scoped_lock lock(mutex_);
      calls_.push_back(what);
    }
    while (is_shut) std::this_thread::yield();
  }
  [[nodiscard]] std::vector<std::string> calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  std::atomic<bool> is_shut{false};

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
};

class SettableGpu final : public Sensor {
 public:
  explicit SettableGpu(std::shared_ptr<Driver> driver) : driver_(std::move(driver)) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    driver_->call("read");
    readings[0] = {.raw = 75'000, .status = ReadStatus::ok};
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  [[nodiscard]] DeviceSettings settings() noexcept override {
    return {.power_limit_mw = limit_mw_};
  }
  [[nodiscard]] std::optional<SettingFailure> check(const DeviceSetting& setting) override {
    if (std::get<PowerLimit>(setting).mw > 0) return std::nullopt;
    return SettingFailure{.cause = SettingFailure::FailureCause::out_of_range,
                          .message = "too low"};
  }
  [[nodiscard]] std::optional<SettingFailure> set(const DeviceSetting& setting) override {
    limit_mw_ = std::get<PowerLimit>(setting).mw;
    driver_->call("set " + std::to_string(limit_mw_));
    return std::nullopt;
  }

 private:
  std::shared_ptr<Driver> driver_;
  DeviceInfo info_{.id = "GPU-a"};
  std::uint32_t limit_mw_ = 1000;
  std::vector<Channel> channels_{
      {.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant, .gauge = {.scale = 1e-3}}};
};

class Control : public testing::Test {
 protected:
  Control() : control_(gpus_, loop_, journal_, nullptr) {}
  /// Its threads are idle when the folder of the journal goes.
  ~Control() override {
    driver_->is_shut = false;
    disk_->is_shut = false;
    has_ended_ = false;
    end();
    run_until([&] { return has_ended_; });
  }

  void set(std::uint32_t mw, GpuControl::Caller caller = GpuControl::Caller::waits) {
    const auto refused = control_.set(
        {0}, {PowerLimit{mw}}, caller,
        [this, mw](const GpuControl::Outcomes& outcomes) { note(mw, outcomes.at(0)); });
    if (refused) note(mw, {.fault = refused});
  }
  void note(std::uint32_t mw, const SettingOutcome& outcome) {
    const std::string end = outcome.fault           ? std::to_string(outcome.fault->status)
                            : outcome.is_superseded ? "superseded"
                                                    : "made";
    ended_.push_back(std::to_string(mw) + " " + end);
    if (outcome.fault) reasons_.push_back(outcome.fault->message);
  }
  void read() {
    gpus_.ask({0}, GpuQuestion::power, [this](const Gpus::Answers& answers) {
      const auto fault = fault_of(answers.at(0), gpus_.sensor(0), GpuQuestion::power);
      ended_.push_back(fault ? "read " + fault->message : "read");
    });
  }
  /// Runs what threads post until it is so.
  template <class Condition>
  void run_until(Condition is_so) {
    while (!is_so()) {
      if (loop_.run_posted() == 0) std::this_thread::yield();
    }
  }
  void run_until_ended(std::size_t count) {
    run_until([&] { return ended_.size() >= count; });
  }
  void hold_driver_in(const std::string& call) {
    run_until([&] { return !driver_->calls().empty() && driver_->calls().back() == call; });
  }
  void end() {
    control_.end([this] { has_ended_ = true; });
  }

  /// Waits until the journal is being written.
  void hold_disk() {
    run_until([&] { return disk_->calls().size() > 0; });
  }

  fakes::TempFolder folder_;
  VirtualLoop loop_;
  std::shared_ptr<Driver> driver_ = std::make_shared<Driver>();
  /// Where the journal is; takes the time of a driver.
  std::shared_ptr<Driver> disk_ = std::make_shared<Driver>();
  Gpus gpus_{{{.entry = {.id = 0}, .sensor = std::make_shared<SettableGpu>(driver_)}}, loop_};
  std::shared_ptr<SettingsJournal> journal_ = std::make_shared<SettingsJournal>(
      (folder_.path() / "settings").string(), ::geteuid(),
      [disk = disk_](const std::string& /*path*/, const std::string& text) {
        disk->call(text);
        return 0;
      });
  GpuControl control_;
  std::vector<std::string> ended_;
  std::vector<std::string> reasons_;
  bool has_ended_ = false;
};

TEST_F(Control, MakesTheFirstAndTheLastOfManySettings) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  for (std::uint32_t mw = 2; mw <= 100; ++mw) set(mw, GpuControl::Caller::goes_on);
  driver_->is_shut = false;
  run_until_ended(100);
  EXPECT_THAT(driver_->calls(), ElementsAre("set 1", "set 100"));
  EXPECT_THAT(ended_, testing::Contains("1 made"));
  EXPECT_EQ(ended_.back(), "100 made");
  EXPECT_EQ(std::ranges::count_if(
                ended_, [](const std::string& end) { return end.ends_with(" superseded"); }),
            98);
}

TEST_F(Control, AReadWaitsForOneSettingAtMost) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  for (std::uint32_t i = 0; i < 1000; ++i) set(i % 2 == 0 ? 0 : 2 + i);  // every other one fails
  read();
  driver_->is_shut = false;
  run_until_ended(1002);
  const std::vector<std::string> calls = driver_->calls();
  ASSERT_GE(calls.size(), 3U);
  EXPECT_LE(std::ranges::find(calls, "read") - calls.begin(), 2);
}

TEST_F(Control, ReadsAreNotRefusedHoweverManySettingsWait) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  for (std::uint32_t mw = 2; mw <= 1000; ++mw) set(mw);
  for (int i = 0; i < 100; ++i) read();
  driver_->is_shut = false;
  run_until_ended(1100);
  EXPECT_EQ(std::ranges::count(ended_, "read"), 100);
}

TEST_F(Control, AtTheEndRestoresBeforeWhatStillWaits) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  set(2);
  set(3, GpuControl::Caller::goes_on);
  end();
  EXPECT_THAT(ended_, ElementsAre("2 503", "3 503"));
  set(4);
  EXPECT_THAT(ended_, ElementsAre("2 503", "3 503", "4 503"));
  EXPECT_THAT(reasons_, testing::Each(HasSubstr("the daemon is stopping")));
  EXPECT_FALSE(has_ended_);
  driver_->is_shut = false;
  run_until([&] { return has_ended_; });
  EXPECT_THAT(driver_->calls(), ElementsAre("set 1", "set 1000"));
  EXPECT_THAT(journal_->changed(), IsEmpty());
}

TEST_F(Control, AtTheEndRestoresASettingThatWasAboutToBeMade) {
  // The setting's thread may not have come to the journal yet.
  set(1, GpuControl::Caller::goes_on);
  end();
  run_until([&] { return has_ended_; });
  EXPECT_THAT(journal_->changed(), IsEmpty());
  EXPECT_EQ(gpus_.handle(0).run([](Sensor& gpu) { return gpu.settings().power_limit_mw; }), 1000U);
}

TEST_F(Control, DoesNotWaitLongAtTheEndForADriverThatHangs) {
  driver_->is_shut = true;
  set(1, GpuControl::Caller::goes_on);
  hold_driver_in("set 1");
  end();
  loop_.advance(seconds(3));
  EXPECT_TRUE(has_ended_);
  EXPECT_EQ(journal_->changed().size(), 1U) << "the next daemon restores it";
}

TEST_F(Control, ADriverThatHangsIsAFaultOfWhatItMakesAndNothingElseIsMade) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  set(2);
  loop_.advance(seconds(4));
  EXPECT_THAT(ended_, UnorderedElementsAre("1 500", "2 503"));
  EXPECT_THAT(reasons_, UnorderedElementsAre(HasSubstr("did not answer in time"),
                                             HasSubstr("this one was not made")));
  driver_->is_shut = false;
  set(3);
  run_until_ended(3);
  EXPECT_THAT(driver_->calls(), ElementsAre("set 1", "set 3"));
}

TEST_F(Control, ADiskThatHangsIsNoFaultOfTheDriverAndTheSettingIsNotMade) {
  disk_->is_shut = true;
  set(1);
  hold_disk();
  loop_.advance(seconds(4));
  EXPECT_THAT(ended_, ElementsAre("1 503"));
  EXPECT_THAT(reasons_, ElementsAre(AllOf(HasSubstr((folder_.path() / "settings").string()),
                                          HasSubstr("could not be written in time"))));
  disk_->is_shut = false;
  set(2);
  run_until_ended(2);
  EXPECT_THAT(ended_, ElementsAre("1 503", "2 made"));
  EXPECT_THAT(driver_->calls(), ElementsAre("set 2"));
}

TEST_F(Control, ADriverThatWasCalledLateIsNotBlamed) {
  disk_->is_shut = true;
  set(1);
  hold_disk();
  driver_->is_shut = true;
  loop_.advance(milliseconds(3500));
  disk_->is_shut = false;
  hold_driver_in("set 1");
  loop_.run_posted();  // that the journal is written
  loop_.advance(milliseconds(500));
  EXPECT_THAT(ended_, ElementsAre("1 503"));
  EXPECT_THAT(reasons_, ElementsAre(HasSubstr("is being made, or fails, after this answer")));
}

TEST_F(Control, AFloodOfOneKindWritesTheJournalOnce) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  for (std::uint32_t mw = 2; mw <= 100; ++mw) set(mw);
  driver_->is_shut = false;
  run_until_ended(100);
  EXPECT_THAT(disk_->calls(), testing::SizeIs(testing::AnyOf(1, 2)));
  run_until([&] { return disk_->calls().size() == 2; });
  EXPECT_THAT(disk_->calls().back(), HasSubstr("power_limit_mw 1000 100\n"));
}

TEST_F(Control, AtTheEndDoesNotWaitLongForADiskThatHangs) {
  set(1);
  run_until([&] { return disk_->calls().size() == 2; });
  disk_->is_shut = true;
  end();
  hold_driver_in("set 1000");
  loop_.advance(seconds(3));
  EXPECT_TRUE(has_ended_);
}

TEST_F(Control, AnOlderSettingIsMadeIfTheNewerOneIsRefused) {
  driver_->is_shut = true;
  set(1);
  hold_driver_in("set 1");
  set(2, GpuControl::Caller::goes_on);
  set(0, GpuControl::Caller::goes_on);
  driver_->is_shut = false;
  run_until_ended(3);
  EXPECT_THAT(ended_, ElementsAre("1 made", "0 400", "2 made"));
}

}  // namespace
}  // namespace wattle::daemon
