// The real energy events of this machine's processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "fakes/one_window.hpp"
#include "sampling/counters/cross_check.hpp"
#include "sensors/perf/event_sensor.hpp"
#include "sensors/perf/perf.hpp"
#include "sensors/powercap/powercap.hpp"

namespace wattle {
namespace {

/// All counts that were read so far, or-ed together: which of their bits are ever used.
std::uint64_t used_bits = 0;

ssize_t read_and_note(int fd, void* buffer, std::size_t bytes) noexcept {
  const ssize_t count = perf::kernel_calls().read(fd, buffer, bytes);
  constexpr ssize_t kHead = 2 * sizeof(std::uint64_t);  // members, time
  for (ssize_t at = kHead; at < count; at += static_cast<ssize_t>(sizeof(std::uint64_t))) {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const char*>(buffer) + at, sizeof value);
    used_bits |= value;
  }
  return count;
}

class PerfHardware : public testing::Test {
 protected:
  void SetUp() override {
    used_bits = 0;
    calls_ = perf::kernel_calls();
    calls_.read = read_and_note;
    found_ = perf::probe(System{}, machine_clock(), {}, calls_);
    if (std::ranges::any_of(found_.sensors, shows_package)) return;
    // Virtual machines show a counter of the platform that never moves.
    std::string reasons = found_.sensors.empty() ? "" : "other counters alone are shown; ";
    for (const SensorRefusal& refusal : found_.refused) {
      reasons += refusal.subject + ": " + refusal.reason + " (" + refusal.proof + "); ";
    }
    GTEST_SKIP() << "no package can be counted here: " << reasons;
  }
  static bool shows_package(const std::unique_ptr<Sensor>& sensor) {
    return std::ranges::any_of(sensor->channels(), [](const Channel& channel) {
      return channel.domain.kind() == DomainKind::package;
    });
  }
  using Sensors = std::vector<std::unique_ptr<Sensor>>;
  /// What each of them counts over one second.
  static std::vector<std::vector<DomainFigure>> measure(std::vector<Sensors> sources) {
    std::deque<fakes::OneWindow> recorders;
    for (Sensors& sensors : sources) recorders.emplace_back(std::move(sensors), machine_clock());
    for (fakes::OneWindow& recorder : recorders) recorder.read(false);
    const TimePoint begin = machine_clock().now();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const TimePoint end = machine_clock().now();
    for (fakes::OneWindow& recorder : recorders) recorder.read(true);
    std::vector<std::vector<DomainFigure>> results;
    for (const fakes::OneWindow& recorder : recorders)
      results.push_back(recorder.figures(begin, end));
    return results;
  }

  perf::SystemCalls calls_{};
  Survey found_;
};

TEST_F(PerfHardware, EveryTickIsTwoToTheMinusSixteenJoules) {
  for (const auto& sensor : found_.sensors) {
    for (const Channel& channel : sensor->channels()) {
      EXPECT_EQ(channel.counter.tick.si(), std::ldexp(1.0, -16)) << channel.place;
    }
  }
}

TEST_F(PerfHardware, BitsThatAreShiftedAwayAreNeverUsed) {
  std::vector<Sensors> sources;
  sources.push_back(std::move(found_.sensors));
  (void)measure(std::move(sources));
  ASSERT_NE(used_bits, 0U);
  const int lowest = std::countr_zero(used_bits);
  RecordProperty("register_unit_j", "2^" + std::to_string(lowest - 32));
  EXPECT_GE(lowest, 16) << "a register finer than 2^-16 J";
}

TEST_F(PerfHardware, PackagesDrawAPlausiblePowerOverASecond) {
  std::map<Domain, Watts> most;
  for (const auto& sensor : found_.sensors) {
    for (const Channel& channel : sensor->channels()) {
      most[channel.domain] = channel.counter.max_power;
    }
  }
  std::vector<Sensors> sources;
  sources.push_back(std::move(found_.sensors));
  bool any_package = false;
  const auto results = measure(std::move(sources));
  for (const DomainFigure& result : results.at(0)) {
    const std::string name = result.domain.name();
    ASSERT_TRUE(result.figure.energy.has_value()) << name;
    EXPECT_EQ(result.figure.unknown.count(), 0.0) << name;
    RecordProperty(name + "_w", std::to_string(result.figure.mean->si()));
    if (result.domain.kind() != DomainKind::package) continue;
    any_package = true;
    EXPECT_GT(result.figure.mean->si(), 0.1) << name;
    EXPECT_LT(*result.figure.mean, most.at(result.domain)) << name;
  }
  EXPECT_TRUE(any_package);
}

TEST_F(PerfHardware, AgreesWithPowercap) {
  Survey powercap = powercap::probe(System{}, machine_clock());
  if (powercap.sensors.empty()) GTEST_SKIP() << "powercap cannot be read here";
  std::vector<Sensors> sources;
  sources.push_back(std::move(found_.sensors));
  sources.push_back(std::move(powercap.sensors));
  constexpr Seconds kBetweenTheReads{0.01};
  for (const CrossCheck& check : cross_check(measure(std::move(sources)), kBetweenTheReads)) {
    EXPECT_TRUE(check.agrees()) << check.domain.name();
  }
}

}  // namespace
}  // namespace wattle
