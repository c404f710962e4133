// One machine for one trial: a load, sensors that look at it, and a clock that nobody waits for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/virtual_clock.hpp"
#include "lab/random.hpp"
#include "lab/sensor_model.hpp"
#include "lab/waveform.hpp"
#include "sensors/sensor.hpp"

namespace wattle::lab {

/// What it takes to read a sensor.
struct ReaderModel {
  double shortest_s = 1e-6;      ///< no call returns sooner
  double mean_extra_s = 0.5e-6;  ///< exponentially distributed, on top
  double dropout = 0.0;          ///< the part of all reads that give no value
  double lane_s = 0.1;           ///< how often a lane reads it
};

/// The sensors of a machine. At least one of `counter` and `gauge` is there.
struct Machine {
  std::string name;
  std::optional<CounterModel> counter{};
  std::optional<GaugeModel> gauge{};
  /// The counter adds up what the gauge shows; it needs one.
  bool counter_is_fed = false;
  ReaderModel reader{};
  /// False: updates are due at whole multiples of their interval, from 0 s on.
  bool random_phase = true;
};

/// What the machine does.
struct Load {
  std::string name;
  Waveform shape;
  /// It begins this much later, at random: what happens at 0 s is somewhere in between then.
  double least_delay_s = 0.0;
  double most_delay_s = 0.0;
  /// Where it is set, the load is the work that is measured: this is the power before and after,
  /// from anywhere in its course.
  std::optional<Waveform> outside{};
  /// The part of the window that this work takes: below 1, it begins and ends somewhere in it.
  double part = 1.0;
};

/// A sensor over models. Each read takes virtual time, during which the value is taken. Threads:
/// one at a time.
class ModelSensor final : public Sensor {
 public:
  struct Source {
    Channel channel;
    std::function<std::uint64_t(double time_s)> raw_at;
  };

  /// `clock` outlives it.
  ModelSensor(std::vector<Source> sources, const ReaderModel& reader, fakes::VirtualClock& clock,
              std::uint64_t seed);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  [[nodiscard]] Reading read_one(const Source& source) noexcept;

  std::vector<Source> sources_;
  std::vector<Channel> channels_;
  ReaderModel reader_;
  fakes::VirtualClock& clock_;
  Random random_;
};

/// Time is in seconds around 0 s, where the window to be measured begins, or on the clock that
/// `Reading` uses. The clock starts at `kStartS`, early enough for whoever watches the sensors
/// before the window. Threads: one at a time.
class World {
 public:
  static constexpr double kStartS = -5.0;

  /// The same `seed` makes the same world.
  World(const Machine& machine, const Load& load, std::uint64_t seed);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() = default;

  [[nodiscard]] Sensor& sensor() noexcept { return sensor_; }
  [[nodiscard]] fakes::VirtualClock& clock() noexcept { return clock_; }
  /// For who measures: when its threads wake up, say.
  [[nodiscard]] Random& random() noexcept { return random_; }
  /// The place of the counter or the gauge among the sensor's channels; it must have one.
  [[nodiscard]] static constexpr std::size_t counter_channel() noexcept { return 0; }
  [[nodiscard]] std::size_t gauge_channel() const noexcept { return has_counter_ ? 1 : 0; }

  /// How often a lane reads the sensor.
  [[nodiscard]] double lane_s() const noexcept { return lane_s_; }

  [[nodiscard]] double now_s() const noexcept { return seconds_of(clock_.at()); }
  /// Lets time pass; a time that has passed already is no wait.
  void wait_until(double time_s) noexcept;
  /// Reads one channel.
  [[nodiscard]] Reading read(std::size_t channel) noexcept;

  /// The work that is measured takes place from `begin_s` to `end_s`, neither of which has passed,
  /// or in a part of that (see `Load`). Until it is called there is no work. Says nothing to a load
  /// that runs anyway.
  void work_between(double begin_s, double end_s) noexcept;

  /// The truth.
  [[nodiscard]] double energy_j(TimePoint begin, TimePoint end) const noexcept;

  [[nodiscard]] static TimePoint time_point(double time_s) noexcept;
  [[nodiscard]] static double seconds_of(TimePoint time) noexcept;

 private:
  [[nodiscard]] UpdateTimes updates_of(const Machine& machine, const UpdateModel& model) noexcept;
  [[nodiscard]] std::vector<ModelSensor::Source> sources_of(const Machine& machine);

  Random random_;
  std::optional<Waveform> outside_;
  Waveform shape_;
  Waveform power_;
  bool has_counter_;
  double lane_s_;
  double part_;
  fakes::VirtualClock clock_;
  ModelSensor sensor_;
  std::vector<Reading> readings_;
};

/// Calls `wake()` at the deadlines of a lane, which are multiples of `period_s` after a random
/// phase, from `begin_s` until `end_s`, each a little late as threads wake up.
template <class Wake>
void wake_each(World& world, double begin_s, double end_s, double period_s, Wake wake) {
  constexpr double kMeanWakeUpS = 50e-6;
  for (double due_s = begin_s + period_s * world.random().uniform(); due_s < end_s;
       due_s += period_s) {
    world.wait_until(due_s + world.random().exponential(kMeanWakeUpS));
    if (world.now_s() >= end_s) return;
    wake();
  }
}

/// Reads `channel` so. Calls `visit(reading)` for each.
template <class Visit>
void follow(World& world, std::size_t channel, double begin_s, double end_s, double period_s,
            Visit visit) {
  wake_each(world, begin_s, end_s, period_s, [&] { visit(world.read(channel)); });
}

}  // namespace wattle::lab
