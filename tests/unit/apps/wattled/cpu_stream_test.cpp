#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "api/power_streams.hpp"
#include "fakes/scripted_sensor.hpp"
#include "recording_subscriber.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two packages of 50 W, the first with memory of 10 W.
class CpuStreams : public testing::Test {
 protected:
  CpuStreams() {
    for (std::uint32_t socket = 0; socket < 2; ++socket) {
      std::vector<fakes::ScriptedCounter> counters;
      counters.push_back(counted(Domain::package(socket), 50.0, socket));
      if (socket == 0) counters.push_back(counted(Domain::dram(0), 10.0, 2));
      sensors_.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    }
    cpus_.emplace(std::move(sensors_),
                  std::vector<Cpus::Cpu>{{.id = 0, .cpu = {0, 0}, .dram = Cpus::ChannelPlace{0, 1}},
                                         {.id = 1, .cpu = {1, 0}}});
    fine_.emplace(*cpus_, loop_);
    coarse_.emplace(*cpus_, loop_, 1'000'000, seconds(1));
    stream_.emplace(*fine_, loop_, milliseconds(100), wire::StreamFormat::per_device);
    coarse_stream_.emplace(*coarse_, loop_, seconds(1), wire::StreamFormat::per_device);
    cpus_->keep_counters(loop_);
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
  std::vector<std::shared_ptr<Sensor>> sensors_;
  std::optional<Cpus> cpus_;
  std::optional<CpuView> fine_;
  std::optional<CpuView> coarse_;
  std::optional<CpuStream> stream_;
  std::optional<CpuStream> coarse_stream_;
  RecordingSubscriber listener_;
};

TEST_F(CpuStreams, WithoutSubscribersReadsOnlyToKeepCounters) {
  EXPECT_EQ(loop_.timers(), 1U);
  loop_.advance(std::chrono::minutes(10));
  EXPECT_GT(reads_[0], 0);
  // 2^32 ticks of 2^-14 J at 2 kW wrap in 131 s: half of that, and a minute at most.
  EXPECT_LE(reads_[0], 11);
}

TEST_F(CpuStreams, ReadsOnlyWhatSomebodyAskedFor) {
  stream_->subscribe(listener_, {1});
  loop_.advance(seconds(1));
  EXPECT_EQ(reads_[0], 0);
  EXPECT_GE(reads_[1], 10);
}

TEST_F(CpuStreams, StopsReadingWhenNobodyListensAnyMore) {
  stream_->subscribe(listener_, {0});
  loop_.advance(seconds(1));
  Stream::unsubscribe(listener_);
  loop_.advance(milliseconds(200));
  reads_ = {};
  loop_.advance(seconds(10));
  EXPECT_EQ(reads_[0], 0);
  EXPECT_EQ(loop_.timers(), 1U);
}

TEST_F(CpuStreams, ReportsTheFirstPowerAfterOneInterval) {
  stream_->subscribe(listener_, {0});
  loop_.advance(milliseconds(99));
  EXPECT_THAT(listener_.frames, IsEmpty());
  loop_.advance(milliseconds(1));
  ASSERT_THAT(listener_.frames, SizeIs(1));
  EXPECT_THAT(listener_.frames[0], HasSubstr("\"cpu_id\":0,\"cpu_mw\":"));
}

TEST_F(CpuStreams, DividesByTheTimeThatPassed) {
  const CpuStates before = fine_->read({0});
  loop_.advance(seconds(7));
  const CounterPowers powers = fine_->powers(0, before.at(0), fine_->read({0}).at(0));
  ASSERT_TRUE(powers.dram);
  EXPECT_NEAR(static_cast<double>(milliwatts(powers.cpu).value_or(0)), 50'000.0, 1.0);
  EXPECT_NEAR(static_cast<double>(milliwatts(*powers.dram).value_or(0)), 10'000.0, 1.0);
}

TEST_F(CpuStreams, ReportsThatACounterCannotBeRead) {
  stream_->subscribe(listener_, {1});
  loop_.advance(milliseconds(100));
  listener_.frames.clear();
  fails_ = true;
  loop_.advance(milliseconds(300));
  ASSERT_THAT(listener_.frames, SizeIs(1));
  EXPECT_THAT(listener_.frames[0], HasSubstr(": cpu 1: "));
  fails_ = false;
  loop_.advance(milliseconds(200));
  EXPECT_THAT(listener_.frames.back(), HasSubstr("\"cpu_mw\":50"));
}

TEST_F(CpuStreams, HasNoPowerOfACounterThatDoesNotMoveButTheReason) {
  stands_[1] = true;
  stream_->subscribe(listener_, {1});
  loop_.advance(seconds(1));
  EXPECT_THAT(listener_.frames, ElementsAre(HasSubstr(": cpu 1: its counter does not move\n")));
  RecordingSubscriber late;
  stream_->subscribe(late, {1});
  EXPECT_THAT(late.frames, ElementsAre(HasSubstr(": cpu 1: its counter does not move\n")));
}

TEST_F(CpuStreams, HasThePowerOfACpuWhoseMemoryDoesNotCount) {
  stands_[2] = true;
  stream_->subscribe(listener_, {0});
  loop_.advance(milliseconds(100));
  ASSERT_THAT(listener_.frames, SizeIs(1));
  EXPECT_THAT(listener_.frames[0], HasSubstr("\"cpu_mw\":50"));
  EXPECT_THAT(listener_.frames[0], HasSubstr("\"dram_mw\":null"));
  EXPECT_THAT(listener_.frames[0], HasSubstr(": cpu 0 dram: its counter does not move\n"));
}

TEST_F(CpuStreams, HasTheMeanOfACounterThatIsSeldomRenewedOnceItMoves) {
  is_renewed_each_second_ = true;
  stream_->subscribe(listener_, {1});
  loop_.advance(milliseconds(9'950));
  int powers = 0;
  for (const std::string& frame : listener_.frames) {
    if (frame.find("cpu_mw") == std::string::npos) continue;
    ++powers;
    EXPECT_THAT(frame, HasSubstr("\"cpu_mw\":50"));  // and not 500 W in one of ten intervals
  }
  EXPECT_EQ(powers, 9);
}

TEST_F(CpuStreams, TakesNoCounterForStuckThatStrangersSeeInWholeJoules) {
  // 0.2 W: whole joules change every 5 s, the counter all the time.
  fakes::ScriptedCounter slow =
      fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(0.2), clock_.now());
  std::vector<fakes::ScriptedCounter> counters{slow};
  std::vector<std::shared_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
  Cpus cpus(std::move(sensors), {{.id = 0, .cpu = {0, 0}}});
  CpuView coarse(cpus, loop_, 1'000'000, seconds(1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(coarse.read({0}).at(0).cpu.is_stuck);
    loop_.advance(seconds(1));
  }
}

TEST_F(CpuStreams, ShowsStrangersWholeJoulesOnceASecond) {
  std::vector<double> seen;
  for (int i = 0; i < 100; ++i) {
    seen.push_back(coarse_->read({0}).at(0).cpu.energy_uj);
    loop_.advance(milliseconds(100));
  }
  for (const double uj : seen) EXPECT_EQ(std::fmod(uj, 1e6), 0.0);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_THAT(seen, SizeIs(11));  // of 9.9 s: the first of them comes a little early
}

TEST_F(CpuStreams, StreamsToStrangersOnceASecondThoughTicksAreLate) {
  loop_.lateness = [tick = 0]() mutable { return milliseconds(++tick * 7 % 5 * 20); };
  coarse_stream_->subscribe(listener_, {0});
  loop_.advance(milliseconds(500));
  for (std::size_t second = 1; second <= 20; ++second) {
    more_ticks_ += second * 16'384;  // an event says only what has changed
    loop_.advance(seconds(1));
    EXPECT_THAT(listener_.frames, SizeIs(second));
  }
}

TEST_F(CpuStreams, StreamsToStrangersOnceASecondWheneverOthersHaveAskedBefore) {
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

TEST_F(CpuStreams, IsNotReadMoreOftenForAStrangerWhoAsksAllTheTime) {
  for (int i = 0; i < 10'000; ++i) {
    (void)coarse_->read({0});
    loop_.advance(milliseconds(1));
  }
  EXPECT_LE(reads_[0], 11);
}

}  // namespace
}  // namespace wattle::daemon
