// What the tests of NVIDIA GPUs share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fakes/nvml/control.hpp"
#include "sensors/nvml/nvml.hpp"

namespace wattle::nvml {

/// A probe of a scripted library whose GPUs all answer at once: it may take as long as a busy
/// machine needs.
inline Survey probe_patiently(const fakes::FakeNvml& fake) {
  return probe_within(fake.system(), fake.clock(), std::chrono::seconds(60));
}

/// A scripted library, and what was found in it.
class Gpus {
 public:
  explicit Gpus(const std::string& script, fakes::NvmlBuild build = fakes::NvmlBuild::current)
      : fake_(script, build), found_(probe_patiently(fake_)) {}

  /// The sensor of the n-th GPU that can be read.
  Sensor& operator[](std::size_t n) { return *found_.sensors.at(n); }
  [[nodiscard]] const std::vector<SensorRefusal>& refused() const { return found_.refused; }
  [[nodiscard]] std::vector<std::string_view> refused_subjects() const {
    std::vector<std::string_view> subjects;
    for (const SensorRefusal& refusal : found_.refused) subjects.push_back(refusal.subject);
    return subjects;
  }
  fakes::FakeNvml& fake() { return fake_; }
  void at(double seconds) { fake_.set_time(Seconds(seconds)); }
  std::vector<std::unique_ptr<Sensor>> take() { return std::move(found_.sensors); }

 private:
  fakes::FakeNvml fake_;
  Survey found_;
};

/// The place of a channel among the sensor's; its end where there is none.
inline std::size_t place_of(const Sensor& sensor, Metric metric, Scope scope = Scope::device) {
  const auto channels = sensor.channels();
  const auto found = std::ranges::find_if(channels, [&](const Channel& channel) {
    return channel.metric == metric && channel.scope == scope;
  });
  return static_cast<std::size_t>(found - channels.begin());
}

inline bool has(const Sensor& sensor, Metric metric, Scope scope = Scope::device) {
  return place_of(sensor, metric, scope) < sensor.channels().size();
}

inline const Channel& channel_of(const Sensor& sensor, Metric metric, Scope scope = Scope::device) {
  return sensor.channels()[place_of(sensor, metric, scope)];
}

inline std::vector<Reading> read_all(Sensor& sensor) {
  std::vector<Reading> readings(sensor.channels().size());
  sensor.read(readings);
  return readings;
}

/// One reading of one channel.
inline Reading read_one(Sensor& sensor, Metric metric, Scope scope = Scope::device) {
  const std::size_t place = place_of(sensor, metric, scope);
  std::vector<Reading> readings(sensor.channels().size());
  sensor.read_some(ChannelSet().set(place), readings);
  return readings.at(place);
}

/// Its value in SI units; a test failure where there is none.
inline double value_of(Sensor& sensor, Metric metric, Scope scope = Scope::device) {
  const Reading reading = read_one(sensor, metric, scope);
  EXPECT_EQ(reading.status, ReadStatus::ok) << to_string(metric);
  return static_cast<double>(reading.raw) * channel_of(sensor, metric, scope).scale();
}

}  // namespace wattle::nvml
