// A machine whose power a test plays, in virtual time, and a monitor that reads it by hand.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/virtual_clock.hpp"
#include "power/monitor_parts.hpp"

namespace wattle::power_test {

inline constexpr PowerDomain kInstant = PowerDomain::device_instant;

using namespace std::chrono_literals;

/// Where times are counted from: a whole number of any timeline's quanta.
inline constexpr TimePoint kBegin{std::chrono::hours(1)};

/// A gauge of milliwatts, renewed every 100 ms; of which window is not known.
inline Channel power_channel(std::uint32_t gpu, PowerDomain domain) {
  const bool is_memory = domain == PowerDomain::memory_average;
  const bool is_instant =
      domain == PowerDomain::device_instant || domain == PowerDomain::module_instant;
  const Metric metric = is_memory    ? Metric::power_memory
                        : is_instant ? Metric::power_instant
                                     : Metric::power_average;
  return {.domain = Domain::nvidia_gpu(gpu),
          .update = {.mean = 100ms, .spread = 1ms, .p99 = 102ms},
          .source = "script",
          .metric = metric,
          .scope = is_memory ? Scope::memory : Scope::device,
          .gauge = {.scale = 1e-3}};
}

/// What a sensor shows at a time since `kBegin`.
using Script = std::function<fakes::Shown(std::chrono::nanoseconds since_begin)>;

inline fakes::Shown watts(double power) {
  return {.raw = static_cast<std::uint64_t>(std::llround(power * 1e3))};
}
inline Script always(double power) {
  return [=](auto) { return watts(power); };
}
inline Script step(double before, std::chrono::nanoseconds at, double after) {
  return [=](std::chrono::nanoseconds now) { return watts(now < at ? before : after); };
}

/// The same power of the module that the GPU is a part of.
inline Channel module_channel(std::uint32_t gpu, PowerDomain domain) {
  Channel channel = power_channel(gpu, domain);
  channel.scope = Scope::module;
  return channel;
}

/// An energy counter of millijoules, renewed every 100 ms.
inline Channel energy_channel(std::uint32_t gpu) {
  return {.domain = Domain::nvidia_gpu(gpu),
          .counter = {.tick = Joules(1e-3), .max_power = Watts(1e3), .least_power = Watts(0.1)},
          .update = {.mean = 100ms, .spread = 10ms, .p99 = 125ms},
          .source = "script"};
}

/// A GPU's sensor, as the driver's would be.
class PlayedGpu final : public Sensor {
 public:
  PlayedGpu(std::uint32_t index, std::vector<std::pair<PowerDomain, Script>> scripts,
            const TimeSource& clock, std::string model = "Played", Script energy = {})
      : sensor_(counters(index, std::move(scripts), std::move(energy)), clock),
        info_{.id = {}, .pci_address = {}, .model = std::move(model), .driver = {}} {}

  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return sensor_.channels();
  }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    sensor_.read(readings);
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }

 private:
  static std::vector<fakes::ScriptedCounter> counters(
      std::uint32_t index, std::vector<std::pair<PowerDomain, Script>> scripts, Script energy) {
    // As a real one: its first channel is no power.
    std::vector<fakes::ScriptedCounter> all;
    if (energy) {
      all.push_back({energy_channel(index),
                     [energy = std::move(energy)](TimePoint now) { return energy(now - kBegin); }});
    } else {
      all.push_back({Channel{.domain = Domain::nvidia_gpu(index), .metric = Metric::utilization},
                     [](TimePoint) { return fakes::Shown{}; }});
    }
    for (auto& [domain, script] : scripts) {
      const bool is_module =
          domain == PowerDomain::module_instant || domain == PowerDomain::module_average;
      all.push_back({is_module ? module_channel(index, domain) : power_channel(index, domain),
                     [script = std::move(script)](TimePoint now) { return script(now - kBegin); }});
    }
    return all;
  }
  fakes::ScriptedSensor sensor_;
  DeviceInfo info_;
};

inline std::unique_ptr<Sensor> instant_gpu(std::uint32_t index, Script script,
                                           const TimeSource& clock) {
  std::vector<std::pair<PowerDomain, Script>> scripts;
  scripts.emplace_back(PowerDomain::device_instant, std::move(script));
  return std::make_unique<PlayedGpu>(index, std::move(scripts), clock);
}

/// A CPU package of constant power.
inline std::unique_ptr<Sensor> package(std::uint32_t socket, double power,
                                       const TimeSource& clock) {
  std::vector<fakes::ScriptedCounter> counters;
  counters.push_back(
      fakes::constant_power(fakes::counter_channel(Domain::package(socket)), Watts(power), kBegin));
  return std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock);
}

/// GPUs and CPUs, and from `monitor` on what reads them.
class PlayedMachine {
 public:
  PlayedMachine() = default;

  [[nodiscard]] const TimeSource& clock() const noexcept { return clock_; }
  PlayedMachine& add(std::unique_ptr<Sensor> sensor) {
    found_.sensors.push_back(std::move(sensor));
    return *this;
  }
  PlayedMachine& add_gpu(std::uint32_t index, Script instant) {
    return add(instant_gpu(index, std::move(instant), clock_));
  }
  PlayedMachine& add_gpu(std::uint32_t index, std::vector<std::pair<PowerDomain, Script>> scripts) {
    return add(std::make_unique<PlayedGpu>(index, std::move(scripts), clock_));
  }
  /// With an energy counter, whose millijoules are `energy`.
  PlayedMachine& add_counted_gpu(std::uint32_t index,
                                 std::vector<std::pair<PowerDomain, Script>> scripts,
                                 Script energy) {
    return add(std::make_unique<PlayedGpu>(index, std::move(scripts), clock_, "Played",
                                           std::move(energy)));
  }
  PlayedMachine& add_package(std::uint32_t socket, double power) {
    return add(package(socket, power, clock_));
  }
  void refuse(SensorRefusal refusal) { found_.refused.push_back(std::move(refusal)); }

  /// Reads every 100 ms unless `options` say otherwise.
  [[nodiscard]] PowerMonitor monitor(PowerMonitorOptions options = {}) {
    if (!options.update_period) options.update_period = 100ms;
    period_ = *options.update_period;
    return PowerMonitorMaker::make(std::move(found_), clock_, options, ReadBy::caller);
  }
  /// Reads now, and every period until `until`, that included.
  void play(PowerMonitor& monitor, std::chrono::nanoseconds until) {
    for (; clock_.at() <= kBegin + until; clock_.advance(period_)) PowerMonitorMaker::read(monitor);
  }
  void pass(std::chrono::nanoseconds time) { clock_.advance(time); }

 private:
  fakes::VirtualClock clock_;
  Survey found_;
  std::chrono::nanoseconds period_ = 100ms;
};

/// Times in seconds since the begin, and watts.
[[nodiscard]] inline std::vector<std::pair<double, double>> points(
    const std::vector<PowerSample>& samples) {
  std::vector<std::pair<double, double>> points;
  for (const PowerSample& sample : samples) {
    points.emplace_back(Seconds(sample.timestamp - kBegin).count(), sample.power.si());
  }
  return points;
}

}  // namespace wattle::power_test
