#include "sensors/daemon/daemon_sensor.hpp"

#include <gmock/gmock.h>

#include "fakes/powercap_tree.hpp"
#include "fakes/virtual_clock.hpp"
#include "sampling/counters/counter.hpp"
#include "sensors/daemon/daemon.hpp"
#include "unit/sensors/daemon/served_machine.hpp"

namespace wattle::daemon_source {
namespace {

using fakes::HttpPeer;
using fakes::HttpRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing_daemon::counters;

/// A sensor, read as those who follow its counter do.
class DaemonSensorTest : public testing_daemon::ServedMachine {
 protected:
  void open() {
    Survey found = probe(system(), clock_);
    ASSERT_EQ(found.sensors.size(), 1U);
    sensor_ = std::move(found.sensors.front());
    unwrap_.emplace(sensor_->channels()[0].counter, sensor_->channels()[0].update.p99);
  }
  Reading read() {
    clock_.advance(seconds(1));
    std::vector<Reading> readings(sensor_->channels().size());
    sensor_->read(readings);
    return readings.at(0);
  }
  /// What happened to the counter since the reading before.
  CounterStep step() {
    const Reading reading = read();
    EXPECT_EQ(reading.status, ReadStatus::ok);
    return unwrap_->update(reading.raw, reading.at);
  }

  fakes::VirtualClock clock_;
  std::unique_ptr<Sensor> sensor_;
  std::optional<CounterUnwrap> unwrap_;
};

TEST_F(DaemonSensorTest, CountsWhatTheDaemonShows) {
  serve();
  tell(counters(1'000'000));
  open();
  EXPECT_EQ(step().kind, StepKind::first);
  tell(counters(3'500'000));
  EXPECT_EQ(step(), (CounterStep{.kind = StepKind::forward, .ticks = 2'500'000}));
  EXPECT_EQ(step(), (CounterStep{.kind = StepKind::forward, .ticks = 0}));
}

TEST_F(DaemonSensorTest, EachPackageAndItsMemoryAreChannels) {
  serve();
  tell(
      R"({"1":{"cpu_energy_uj":5,"dram_energy_uj":null},"0":{"cpu_energy_uj":1,"dram_energy_uj":2}})");
  open();
  std::vector<std::string> names;
  for (const Channel& channel : sensor_->channels()) {
    names.push_back(channel.domain.name());
    EXPECT_EQ(channel.source, "daemon");
    EXPECT_EQ(channel.place, path());
    EXPECT_EQ(channel.counter.modulus, 0U);
    EXPECT_DOUBLE_EQ(channel.counter.tick.si(), 1e-6);
    EXPECT_GT(channel.counter.max_power.si(), 0.0);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("package_1", "package_0", "dram_0"));
  EXPECT_FALSE(sensor_->may_block());
}

/// The domains of the sensor's channels.
std::vector<std::string> names_of(const Sensor& sensor) {
  std::vector<std::string> names;
  for (const Channel& channel : sensor.channels()) names.push_back(channel.domain.name());
  return names;
}

TEST_F(DaemonSensorTest, CpusAreWhatWattledSaysTheyAreWhateverTheirNumbers) {
  serve();
  tell(R"({"0":{"cpu_energy_uj":1,"dram_energy_uj":2,"since_ms":1,"domain":"package_1"},)"
       R"("1":{"cpu_energy_uj":3,"dram_energy_uj":null,"since_ms":1,"domain":"psys"},)"
       R"("2":{"cpu_energy_uj":4,"dram_energy_uj":null,"since_ms":1,"domain":"package_0_die_1"},)"
       R"("3":{"cpu_energy_uj":5,"dram_energy_uj":null,"since_ms":1,"domain":"hwmon_x"},)"
       R"("4":{"cpu_energy_uj":6,"dram_energy_uj":null,"since_ms":1,"domain":"\u001b[2J"}})");
  open();
  EXPECT_THAT(names_of(*sensor_),
              testing::ElementsAre("package_1", "dram_1", "psys", "package_0_die_1"));
}

TEST_F(DaemonSensorTest, ACpuIsFoundByItsNameWhereAnotherDaemonNumbersItInAnotherWay) {
  serve();
  tell(R"({"0":{"cpu_energy_uj":1000,"dram_energy_uj":null,"since_ms":1,"domain":"package_1"}})");
  open();
  (void)step();
  tell(R"({"0":{"cpu_energy_uj":9,"dram_energy_uj":null,"since_ms":1,"domain":"package_0"},)"
       R"("7":{"cpu_energy_uj":3000,"dram_energy_uj":null,"since_ms":1,"domain":"package_1"}})");
  EXPECT_EQ(step(), (CounterStep{.kind = StepKind::forward, .ticks = 2000}));
}

TEST_F(DaemonSensorTest, APackageThatIsShownTwiceIsReadOnce) {
  serve();
  tell(R"({"0":{"cpu_energy_uj":1,"dram_energy_uj":null,"since_ms":1,"domain":"package_0"},)"
       R"("1":{"cpu_energy_uj":1,"dram_energy_uj":null,"since_ms":1,"domain":"package_0"}})");
  open();
  EXPECT_THAT(names_of(*sensor_), testing::ElementsAre("package_0"));
}

TEST_F(DaemonSensorTest, CpusOfZeusdAreTheZonesOfThisMachine) {
  serve();
  tell(
      R"({"0":{"cpu_energy_uj":1,"dram_energy_uj":2},"1":{"cpu_energy_uj":3,"dram_energy_uj":null},)"
      R"("2":{"cpu_energy_uj":4,"dram_energy_uj":null}})");
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-1");
  tree.add_zone("intel-rapl:1", "psys");
  tree.add_zone("intel-rapl:2", "package-0");
  System machine = tree.system();
  machine.daemon_socket = path();
  const Survey found = probe(machine, clock_);
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_THAT(names_of(*found.sensors.front()),
              testing::ElementsAre("package_1", "dram_1", "psys", "package_0"));
}

TEST_F(DaemonSensorTest, CpusOfOlderWattledArePackagesWhateverTheZones) {
  serve();
  tell(counters(1, "2", 1000));
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-1");
  System machine = tree.system();
  machine.daemon_socket = path();
  const Survey found = probe(machine, clock_);
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_THAT(names_of(*found.sensors.front()), testing::ElementsAre("package_0", "dram_0"));
}

TEST_F(DaemonSensorTest, ADaemonThatWasRestartedIsABreakEvenIfItShowsMore) {
  serve();
  tell(counters(5'000'000, "null", 1000));
  open();
  (void)step();
  tell(counters(6'000'000, "null", 2000));
  EXPECT_EQ(step().kind, StepKind::reset) << "its counter restarted, and passed the old value";
  tell(counters(6'500'000, "null", 2000));
  EXPECT_EQ(step(), (CounterStep{.kind = StepKind::forward, .ticks = 500'000}));
}

TEST_F(DaemonSensorTest, ALowerValueIsABreakWithDaemonsThatDoNotReportSinceWhen) {
  serve();
  tell(counters(5'000'000, "null", std::nullopt));
  open();
  (void)step();
  tell(counters(1'000'000, "null", std::nullopt));
  EXPECT_EQ(step().kind, StepKind::reset);
  tell(counters(1'200'000, "null", std::nullopt));
  EXPECT_EQ(step(), (CounterStep{.kind = StepKind::forward, .ticks = 200'000}));
}

TEST_F(DaemonSensorTest, IsGoneWhileTheDaemonIs) {
  serve();
  open();
  (void)step();
  stop();
  EXPECT_EQ(read().status, ReadStatus::gone);
  serve();
  EXPECT_EQ(read().status, ReadStatus::ok);
}

TEST_F(DaemonSensorTest, AnAnswerWithoutACounterIsNoValue) {
  serve();
  open();
  tell(R"({"0":{"cpu_energy_uj":null,"dram_energy_uj":null}})");
  EXPECT_EQ(read().status, ReadStatus::retry);
  tell(R"({"1":{"cpu_energy_uj":1}})");
  EXPECT_EQ(read().status, ReadStatus::gone);
  tell(R"({"errors":{"0":"IOError"}})", 500);
  EXPECT_EQ(read().status, ReadStatus::retry);
  tell(counters(5), 403);
  EXPECT_EQ(read().status, ReadStatus::retry);
  tell("[garbage");
  EXPECT_EQ(read().status, ReadStatus::retry);
  tell(counters(5));
  EXPECT_EQ(read().status, ReadStatus::ok);
}

TEST_F(DaemonSensorTest, ADaemonThatKeptUsWaitingIsLeftAloneForASecond) {
  std::atomic<bool> stalls = false;
  serve([&](const HttpRequest&, HttpPeer& peer) {
    if (stalls) return peer.stall();
    peer.send(fakes::http_answer(200, counters(5)));
  });
  open();
  stalls = true;
  std::vector<Reading> readings(sensor_->channels().size());
  sensor_->read(readings);
  EXPECT_EQ(readings[0].status, ReadStatus::retry);
  const std::size_t asked = server_->requests().size();
  stalls = false;
  for (int i = 0; i < 9; ++i) {
    clock_.advance(milliseconds(100));
    sensor_->read(readings);
    EXPECT_EQ(readings[0].status, ReadStatus::retry);
  }
  EXPECT_EQ(server_->requests().size(), asked) << "nobody was asked meanwhile";
  EXPECT_EQ(read().status, ReadStatus::ok);
}

TEST_F(DaemonSensorTest, TheTimeOfAReadingLiesBetweenQuestionAndAnswer) {
  serve();
  open();
  clock_.advance_at_each_look(milliseconds(4));
  std::vector<Reading> readings(1);
  sensor_->read(readings);
  EXPECT_EQ(readings[0].half_width, milliseconds(2));
}

TEST(DaemonMarkedCounter, FallsAtEachBreakAndOnlyThere) {
  RestartAwareCounter counter;
  const std::uint64_t first = counter.update(0, 1).value();
  EXPECT_EQ(counter.update(0, 1), first);
  EXPECT_EQ(counter.update(7, 1), first + 7);
  const std::uint64_t second = counter.update(7, 2).value();
  EXPECT_LT(second, first);
  EXPECT_LT(counter.update(UINT64_MAX, 3).value(), second);
  EXPECT_LT(counter.update(0, 3).value(), second - 1);
}

TEST(DaemonMarkedCounter, ANumberThatCannotBeIsNoValue) {
  RestartAwareCounter counter;
  (void)counter.update(0, 1);
  EXPECT_EQ(counter.update(UINT64_MAX, 1), std::nullopt);
}

}  // namespace
}  // namespace wattle::daemon_source
