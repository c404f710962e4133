#include "hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/scripted_sensor.hpp"
#include "gpu_control.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HubListener final : public Subscriber {
 public:
  ~HubListener() override { Stream::unsubscribe(*this); }
  void deliver(const Frame& frame) override { told.push_back(*frame); }
  std::vector<std::string> told;
};

/// The loop's time, for sensors.
class LoopClock final : public Clock {
 public:
  explicit LoopClock(const VirtualLoop& loop) : loop_(loop) {}
  [[nodiscard]] TimePoint now() const noexcept override { return loop_.now(); }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return {}; }

 private:
  const VirtualLoop& loop_;
};

/// Two packages of 50 W, the first with memory of 10 W.
class CpuHub : public testing::Test {
 protected:
  CpuHub() {
    for (std::uint32_t socket = 0; socket < 2; ++socket) {
      std::vector<fakes::ScriptedCounter> counters;
      counters.push_back(counted(Domain::package(socket), 50.0, socket));
      if (socket == 0) counters.push_back(counted(Domain::dram(0), 10.0, 2));
      sensors_.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    }
    cpus_.emplace(std::move(sensors_),
                  std::vector<Cpus::Cpu>{{.id = 0, .cpu = {0, 0}, .dram = Cpus::Place{0, 1}},
                                         {.id = 1, .cpu = {1, 0}}});
    fine_.emplace(*cpus_, loop_);
    coarse_.emplace(*cpus_, loop_, 1'000'000, seconds(1));
    gpus_.emplace(std::vector<Gpus::Gpu>{}, loop_);
    hub_.emplace(*gpus_, *cpus_, *fine_, *coarse_, loop_, HubOptions{});
    reads_ = {};
  }

  fakes::ScriptedCounter counted(Domain domain, double watts, std::size_t place) {
    auto steady = fakes::constant_power(fakes::counter_channel(domain), Watts(watts), clock_.now(),
                                        1'000'000);
    return {steady.channel, [this, place, script = steady.script](TimePoint now) {
              ++reads_.at(place);
              const auto renewed = std::chrono::floor<seconds>(now);
              fakes::Shown shown = script(is_renewed_each_second_ ? renewed : now);
              shown.raw += more_ticks_;
              if (fails_) shown.status = ReadStatus::retry;
              if (stands_.at(place)) shown.raw = 4711;
              return shown;
            }};
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  std::array<int, 3> reads_{};
  bool fails_ = false;
  bool is_renewed_each_second_ = false;
  std::uint64_t more_ticks_ = 0;  ///< that counters show beside their steady power
  std::array<bool, 3> stands_{};  ///< it shows always the same
  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::optional<Cpus> cpus_;
  std::optional<CpuView> fine_;
  std::optional<CpuView> coarse_;
  std::optional<Gpus> gpus_;
  std::optional<Hub> hub_;
  HubListener listener_;
};

TEST_F(CpuHub, WithoutSubscribersReadsOnlyToKeepCounters) {
  EXPECT_EQ(loop_.timers(), 1U);
  loop_.advance(std::chrono::minutes(10));
  EXPECT_GT(reads_[0], 0);
  // 2^32 ticks of 2^-14 J at 2 kW wrap in 131 s: half of that, and a minute at most.
  EXPECT_LE(reads_[0], 11);
}

TEST_F(CpuHub, ReadsOnlyWhatSomebodyAskedFor) {
  hub_->cpus().subscribe(listener_, {1});
  loop_.advance(seconds(1));
  EXPECT_EQ(reads_[0], 0);
  EXPECT_GE(reads_[1], 10);
}

TEST_F(CpuHub, StopsReadingWhenNobodyListensAnyMore) {
  hub_->cpus().subscribe(listener_, {0});
  loop_.advance(seconds(1));
  Stream::unsubscribe(listener_);
  loop_.advance(milliseconds(200));
  reads_ = {};
  loop_.advance(seconds(10));
  EXPECT_EQ(reads_[0], 0);
  EXPECT_EQ(loop_.timers(), 1U);
}

TEST_F(CpuHub, TellsTheFirstPowerAfterOneInterval) {
  hub_->cpus().subscribe(listener_, {0});
  loop_.advance(milliseconds(99));
  EXPECT_THAT(listener_.told, IsEmpty());
  loop_.advance(milliseconds(1));
  ASSERT_THAT(listener_.told, SizeIs(1));
  EXPECT_THAT(listener_.told[0], HasSubstr("\"cpu_id\":0,\"cpu_mw\":"));
}

TEST_F(CpuHub, DividesByTheTimeThatPassed) {
  const CpuStates before = fine_->read({0});
  loop_.advance(seconds(7));
  const auto power = power_between(before.at(0), fine_->read({0}).at(0)).message();
  ASSERT_TRUE(power);
  EXPECT_NEAR(static_cast<double>(power->cpu_mw), 50'000.0, 1.0);
  EXPECT_NEAR(static_cast<double>(power->dram_mw.value_or(0)), 10'000.0, 1.0);
}

TEST_F(CpuHub, TellsThatACounterCannotBeRead) {
  hub_->cpus().subscribe(listener_, {1});
  loop_.advance(milliseconds(100));
  listener_.told.clear();
  fails_ = true;
  loop_.advance(milliseconds(300));
  ASSERT_THAT(listener_.told, SizeIs(1));
  EXPECT_THAT(listener_.told[0], HasSubstr(": cpu 1: "));
  fails_ = false;
  loop_.advance(milliseconds(200));
  EXPECT_THAT(listener_.told.back(), HasSubstr("\"cpu_mw\":50"));
}

TEST_F(CpuHub, HasNoPowerOfACounterThatDoesNotMoveButTheReason) {
  stands_[1] = true;
  hub_->cpus().subscribe(listener_, {1});
  loop_.advance(seconds(1));
  EXPECT_THAT(listener_.told, ElementsAre(HasSubstr(": cpu 1: its counter does not move\n")));
  HubListener late;
  hub_->cpus().subscribe(late, {1});
  EXPECT_THAT(late.told, ElementsAre(HasSubstr(": cpu 1: its counter does not move\n")));
}

TEST_F(CpuHub, HasThePowerOfACpuWhoseMemoryDoesNotCount) {
  stands_[2] = true;
  hub_->cpus().subscribe(listener_, {0});
  loop_.advance(milliseconds(100));
  ASSERT_THAT(listener_.told, SizeIs(1));
  EXPECT_THAT(listener_.told[0], HasSubstr("\"cpu_mw\":50"));
  EXPECT_THAT(listener_.told[0], HasSubstr("\"dram_mw\":null"));
  EXPECT_THAT(listener_.told[0], HasSubstr(": cpu 0 dram: its counter does not move\n"));
}

TEST_F(CpuHub, HasTheMeanOfACounterThatIsSeldomRenewedOnceItMoves) {
  is_renewed_each_second_ = true;
  hub_->cpus().subscribe(listener_, {1});
  loop_.advance(milliseconds(9'950));
  int powers = 0;
  for (const std::string& told : listener_.told) {
    if (told.find("cpu_mw") == std::string::npos) continue;
    ++powers;
    EXPECT_THAT(told, HasSubstr("\"cpu_mw\":50"));  // and not 500 W in one of ten intervals
  }
  EXPECT_EQ(powers, 9);
}

TEST_F(CpuHub, TakesNoCounterForStuckThatStrangersSeeInWholeJoules) {
  // 0.2 W: whole joules change every 5 s, the counter all the time.
  fakes::ScriptedCounter slow =
      fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(0.2), clock_.now());
  std::vector<fakes::ScriptedCounter> counters{slow};
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
  Cpus cpus(std::move(sensors), {{.id = 0, .cpu = {0, 0}}});
  CpuView coarse(cpus, loop_, 1'000'000, seconds(1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(coarse.read({0}).at(0).cpu.is_stuck);
    loop_.advance(seconds(1));
  }
}

TEST_F(CpuHub, ShowsStrangersWholeJoulesOnceASecond) {
  std::vector<double> seen;
  for (int i = 0; i < 100; ++i) {
    seen.push_back(coarse_->read({0}).at(0).cpu.energy_uj);
    loop_.advance(milliseconds(100));
  }
  for (const double uj : seen) EXPECT_EQ(std::fmod(uj, 1e6), 0.0);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_THAT(seen, SizeIs(11));  // of 9.9 s: the first of them comes a little early
}

TEST_F(CpuHub, StreamsToStrangersOnceASecondThoughTicksAreLate) {
  loop_.lateness = [tick = 0]() mutable { return milliseconds(++tick * 7 % 5 * 20); };
  hub_->coarse_cpus().subscribe(listener_, {0});
  loop_.advance(milliseconds(500));
  for (std::size_t second = 1; second <= 20; ++second) {
    more_ticks_ += second * 16'384;  // an event says only what has changed
    loop_.advance(seconds(1));
    EXPECT_THAT(listener_.told, SizeIs(second));
  }
}

TEST_F(CpuHub, StreamsToStrangersOnceASecondWheneverOthersHaveAskedBefore) {
  for (int phase_ms = 0; phase_ms < 1000; phase_ms += 50) {
    CpuView coarse(*cpus_, loop_, 1'000'000, seconds(1));
    (void)coarse.read({0});
    loop_.advance(milliseconds(phase_ms));
    for (int tick = 0; tick < 10; ++tick) {
      const auto late = milliseconds(tick % 2 * 30);
      loop_.advance(late);
      const int before = reads_[0];
      (void)coarse.read({0});
      if (tick > 0) {
        EXPECT_EQ(reads_[0], before + 1) << phase_ms << " " << tick;
      }
      loop_.advance(seconds(1) - late);
    }
  }
}

TEST_F(CpuHub, IsNotReadMoreOftenForAStrangerWhoAsksAllTheTime) {
  for (int i = 0; i < 10'000; ++i) {
    (void)coarse_->read({0});
    loop_.advance(milliseconds(1));
  }
  EXPECT_LE(reads_[0], 11);
}

/// A GPU that answers when the test lets it.
class GatedGpu final : public Sensor {
 public:
  explicit GatedGpu(const Domain& domain = Domain::nvidia_gpu(0),
                    wattle::Scope scope = wattle::Scope::device) {
    channels_.push_back({.domain = domain,
                         .metric = Metric::power_instant,
                         .scope = scope,
                         .gauge = {.scale = 1e-3}});
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read(std::span<Reading> readings) noexcept override {
    ++reads;
    while (is_shut) std::this_thread::yield();
    readings[0] = {.raw = raw, .status = status};
  }
  [[nodiscard]] bool may_block() const noexcept override { return true; }

  std::atomic<bool> is_shut{false};
  std::atomic<int> reads{0};
  std::atomic<std::uint64_t> raw{75'000};
  std::atomic<ReadStatus> status{ReadStatus::ok};

 private:
  std::vector<Channel> channels_;
};

TEST(GpuFaults, OfOtherVendorsAreNoErrorsOfNvml) {
  GatedGpu nvidia;
  nvidia.status = ReadStatus::gone;
  EXPECT_EQ(ask(nvidia, GpuQuestion::power).fault->message, "NVML error: the GPU is lost");
  for (const Domain& domain : {Domain::amd_gpu(0), Domain::intel_gpu(0)}) {
    GatedGpu other(domain);
    EXPECT_EQ(ask(other, GpuQuestion::energy).fault->message,
              "GPU error: this GPU, or its driver, does not offer it");
    other.status = ReadStatus::gone;
    EXPECT_EQ(ask(other, GpuQuestion::power).fault->message, "GPU error: the GPU is lost");
  }
}

TEST(GpuFaults, SayThatTheModulesPowerIsNotTheGpus) {
  GatedGpu gpu(Domain::nvidia_gpu(0), wattle::Scope::module);
  const GpuAnswer answer = ask(gpu, GpuQuestion::power);
  ASSERT_TRUE(answer.fault) << answer.value;
  EXPECT_EQ(answer.fault->message,
            "NVML error: this GPU shows only the power of the module that it is a part of");
  EXPECT_EQ(gpu.reads, 0);
}

TEST(GpuFaults, OfSettingOtherVendorsAreNoErrorsOfNvml) {
  for (const auto& [domain, word] :
       {std::pair(Domain::nvidia_gpu(0), "NVML"), {Domain::amd_gpu(0), "GPU"}}) {
    VirtualLoop loop;
    Gpus gpus({{.entry = {.id = 0}, .sensor = std::make_shared<GatedGpu>(domain)}}, loop);
    GpuControl control(gpus, nullptr, nullptr);
    std::optional<DeviceFault> fault;
    control.set({0}, {PowerLimit{150'000}},
                [&](const Gpus::Answers& answers) { fault = answers.at(0).fault; });
    while (loop.run_posted() == 0) std::this_thread::yield();
    ASSERT_TRUE(fault);
    EXPECT_THAT(fault->message, testing::StartsWith(std::string(word) + " error: "));
  }
}

class GpuHub : public testing::Test {
 protected:
  GpuHub()
      : gpus_({{.entry = {.id = 0}, .sensor = first_}, {.entry = {.id = 1}, .sensor = second_}},
              loop_),
        stream_(gpus_, loop_, HubOptions{}) {}
  ~GpuHub() override { first_->is_shut = second_->is_shut = false; }

  void wait_for_post() {
    while (loop_.run_posted() == 0) std::this_thread::yield();
  }

  VirtualLoop loop_;
  std::shared_ptr<GatedGpu> first_ = std::make_shared<GatedGpu>();
  std::shared_ptr<GatedGpu> second_ = std::make_shared<GatedGpu>();
  Gpus gpus_;
  GpuStream stream_;
  HubListener listener_;
  HubListener other_;
};

TEST_F(GpuHub, IsAskedAtOnceAndOnlyWhereSomebodyListens) {
  loop_.advance(seconds(1));
  EXPECT_EQ(first_->reads, 0);
  stream_.subscribe(listener_, {0});
  wait_for_post();
  EXPECT_THAT(listener_.told, SizeIs(1));
  EXPECT_EQ(second_->reads, 0);
}

TEST_F(GpuHub, ThatHangsHoldsUpNobodyAndIsNamed) {
  first_->is_shut = true;
  stream_.subscribe(listener_, {0});
  stream_.subscribe(other_, {1});
  for (int i = 0; i < 40; ++i) {
    second_->raw = 100'000 + static_cast<std::uint64_t>(i);
    loop_.advance(milliseconds(50));
    wait_for_post();
  }
  // An answer is told at the next tick where another one is missing.
  EXPECT_GE(other_.told.size(), 39U);
  EXPECT_THAT(listener_.told, ElementsAre(HasSubstr(": gpu 0: its driver does not answer")));
  listener_.told.clear();
  first_->is_shut = false;
  while (listener_.told.empty()) {
    loop_.run_posted();
    loop_.advance(milliseconds(50));
    std::this_thread::yield();
  }
  EXPECT_THAT(listener_.told[0], HasSubstr("\"power_mw\":75000"));
  EXPECT_LE(first_->reads, 1 + 100);
}

TEST_F(GpuHub, IsAskedAgainOnceItsQueueIsNotFullAnyMore) {
  first_->is_shut = true;
  const auto job = [](wire::DeviceId, Sensor& sensor) { return ask(sensor, GpuQuestion::power); };
  const auto ignore = [](const Gpus::Answers&) {};
  gpus_.act({0}, job, seconds(60), ignore);
  while (first_->reads == 0) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) gpus_.act({0}, job, seconds(60), ignore);
  stream_.subscribe(listener_, {0});
  loop_.advance(milliseconds(1'050));
  EXPECT_THAT(listener_.told, ElementsAre(HasSubstr(": gpu 0: its driver does not answer")));
  first_->is_shut = false;
  while (first_->reads < 10) std::this_thread::yield();  // there is room again
  loop_.advance(milliseconds(50));
  while (listener_.told.size() < 2) {
    wait_for_post();
    loop_.advance(milliseconds(50));
  }
  EXPECT_THAT(listener_.told[1], HasSubstr("\"power_mw\":75000"));
}

TEST_F(GpuHub, IsNotToldToHangToWhoComesLongAfterItsQueueWasFull) {
  first_->is_shut = true;
  const auto job = [](wire::DeviceId, Sensor& sensor) { return ask(sensor, GpuQuestion::power); };
  const auto ignore = [](const Gpus::Answers&) {};
  gpus_.act({0}, job, seconds(60), ignore);
  while (first_->reads == 0) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) gpus_.act({0}, job, seconds(60), ignore);
  stream_.subscribe(listener_, {0});
  Stream::unsubscribe(listener_);
  loop_.advance(seconds(10));
  stream_.subscribe(other_, {0});
  loop_.advance(milliseconds(900));
  EXPECT_THAT(other_.told, IsEmpty());
}

TEST_F(GpuHub, IsAnsweredForWhereItHangs) {
  first_->is_shut = true;
  std::optional<Gpus::Answers> answers;
  gpus_.ask({0, 1}, GpuQuestion::power, [&](Gpus::Answers given) { answers = std::move(given); });
  wait_for_post();
  EXPECT_FALSE(answers);
  loop_.advance(seconds(5));
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->at(0).fault->status, 500U);
  EXPECT_EQ(answers->at(1).value, 75'000U);
}

TEST_F(GpuHub, IsAskedOnceForAllWhoWait) {
  first_->is_shut = true;
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    gpus_.ask({0}, GpuQuestion::power, [&](const Gpus::Answers& answers) {
      ++answered;
      EXPECT_FALSE(answers.at(0).fault);
      EXPECT_EQ(answers.at(0).value, 75'000U);
    });
  }
  first_->is_shut = false;
  while (answered < 100) wait_for_post();
  EXPECT_LE(first_->reads, 2);
}

TEST_F(GpuHub, IsAskedAnewByWhoComesDuringACall) {
  first_->is_shut = true;
  gpus_.ask({0}, GpuQuestion::power, [](const Gpus::Answers&) {});
  while (first_->reads == 0) std::this_thread::yield();
  std::optional<Gpus::Answers> answers;
  gpus_.ask({0}, GpuQuestion::power, [&](Gpus::Answers given) { answers = std::move(given); });
  first_->is_shut = false;
  while (!answers) wait_for_post();
  EXPECT_EQ(first_->reads, 2);
}

TEST_F(GpuHub, IsNotAskedWithoutEndWhereItHangs) {
  first_->is_shut = true;
  int answered = 0;
  for (int i = 0; i < 10'000; ++i) {
    gpus_.ask({0}, GpuQuestion::power, [&](const Gpus::Answers&) { ++answered; });
  }
  EXPECT_GE(answered, 1'000);  // refused at once
  loop_.advance(seconds(5));
  EXPECT_EQ(answered, 10'000);
  first_->is_shut = false;
  wait_for_post();
  EXPECT_LE(first_->reads, 2);
}

TEST_F(GpuHub, SaysWhatItDoesNotOffer) {
  const GpuAnswer answer = ask(*first_, GpuQuestion::energy);
  ASSERT_TRUE(answer.fault);
  EXPECT_EQ(answer.fault->status, 400U);
  EXPECT_EQ(ask(*first_, GpuQuestion::power_limit).fault->status, 400U);
}

}  // namespace
}  // namespace wattle::daemon
