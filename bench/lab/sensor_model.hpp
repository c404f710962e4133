// What a sensor shows at a time, given the true power: nothing here reads a clock.
//
// Every value is a function of the time alone: random numbers are taken by index, not in the order
// of the calls. So a sensor can be asked at any times, ten seconds apart at the same cost as one
// microsecond, and shows the same to everybody who asks at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lab/waveform.hpp"
#include "sensors/sensor.hpp"

namespace wattle::lab {

/// How regularly a sensor's value is renewed.
struct UpdateModel {
  double mean_s = 1e-3;
  double spread_s = 0.0;  ///< standard deviation of the interval between two updates
  /// Of one interval with the next one, from -0.5 to -0.35. Negative, since updates scatter around
  /// a regular grid: a late one is followed by a short interval, and errors do not accumulate.
  double autocorrelation = -0.5;
  /// By how much the mean differs from one board to the next: at most by this part.
  double between_boards = 0.0;
};

/// The times of all updates: the k-th is at k x mean + phase + scatter(k), where the scatter is a
/// moving average over two independent, triangularly distributed numbers. Its weights are chosen
/// such that the intervals have the spread and the autocorrelation of the model.
/// Threads: a value type.
class UpdateTimes {
 public:
  /// `phase_s`: when update number 0 is due, were it on time.
  UpdateTimes(const UpdateModel& model, double phase_s, std::uint64_t seed) noexcept;

  /// When update `k`, which may be negative, takes place.
  [[nodiscard]] double at_s(std::int64_t k) const noexcept;
  /// The last update at or before `time_s`.
  [[nodiscard]] std::int64_t last_before(double time_s) const noexcept;
  /// A random number from 0 to 1 of this board, always the same of a number.
  [[nodiscard]] double chance(std::int64_t number) const noexcept;

 private:
  [[nodiscard]] double innovation_s(std::int64_t k) const noexcept;

  double mean_s_;
  double phase_s_;
  double scale_s_;     ///< of the innovations
  double carry_over_;  ///< the part of an innovation that is seen in the next scatter too
  std::uint64_t seed_;
};

/// A cumulative energy counter.
struct CounterModel {
  std::string name;
  Domain domain;
  UpdateModel update;
  double tick_j = 0x1p-14;  ///< what the hardware counts in
  double unit_j = 0x1p-14;  ///< what the value that is read counts in
  double max_power_w = 2000.0;
  std::uint64_t modulus = 0;  ///< of the value that is read; 0: it never wraps
  /// It is not renewed for this long, once in each `between_pauses_s`, at a random time.
  double pause_s = 0.0;
  double between_pauses_s = 0.1;
};

/// A gauge of power: at each update it shows the mean over the last window.
struct GaugeModel {
  std::string name;
  UpdateModel update;
  double window_s = 0.1;  ///< 0: the power of the instant
  /// Above 0: no window, but a first-order lag.
  double time_constant_s = 0.0;
  double lag_s = 0.0;        ///< the window ends this long before the update
  double quantum_w = 0.001;  ///< values are rounded to it
  /// While its mean over half a second is below `frozen_below_w`, the sensor leaves its value as it
  /// is and renews it once in so many updates: 1 for one that never does so.
  int frozen_updates = 1;
  double frozen_below_w = 0.0;
  /// What Wattle takes for its update interval; 0: the true one.
  double listed_update_s = 0.0;
  /// False: Wattle has never heard of such a board, and knows nothing of its gauge.
  bool is_listed = true;
};

[[nodiscard]] Channel channel_of(const CounterModel& model);
[[nodiscard]] Channel channel_of(const GaugeModel& model);

/// The gauge, looking at `power`, which outlives it and may change its future meanwhile.
/// Threads: one at a time.
class Gauge {
 public:
  Gauge(const GaugeModel& model, const UpdateTimes& updates, const Waveform& power) noexcept;

  /// What it shows from update `k` on.
  [[nodiscard]] std::uint64_t raw_at_update(std::int64_t k) const noexcept;
  [[nodiscard]] std::uint64_t raw_at(double time_s) const noexcept;
  [[nodiscard]] const UpdateTimes& updates() const noexcept { return updates_; }
  [[nodiscard]] double quantum_w() const noexcept { return quantum_w_; }

 private:
  [[nodiscard]] double lagged_w(double time_s) const noexcept;
  /// The update whose value is shown from update `k` on.
  [[nodiscard]] std::int64_t shown_at(std::int64_t k) const noexcept;

  UpdateTimes updates_;
  const Waveform* power_;
  double window_s_;
  double time_constant_s_;
  double lag_s_;
  double quantum_w_;
  int frozen_updates_;
  double frozen_below_w_;
  /// Of a gauge that lags: what it showed last, so that the next value costs little.
  mutable double lagged_at_s_ = -std::numeric_limits<double>::infinity();
  mutable double lagged_w_ = 0.0;
};

/// A counter that integrates the true power: at each update it shows the energy up to then.
/// Threads: a value type.
class Counter {
 public:
  /// It shows `start_j` until `start_s`; from then on it counts `power`, which outlives it and may
  /// change its future meanwhile.
  Counter(const CounterModel& model, const UpdateTimes& updates, double start_s, double start_j,
          const Waveform& power) noexcept;

  [[nodiscard]] std::uint64_t raw_at(double time_s) const noexcept;

 private:
  /// When it was last renewed, or could have been.
  [[nodiscard]] double running_s(double time_s) const noexcept;

  UpdateTimes updates_;
  const Waveform* power_;
  double pause_s_;
  double between_pauses_s_;
  double start_s_;
  double start_j_;
  double tick_j_;
  std::uint64_t units_per_tick_;
  std::uint64_t modulus_;
};

/// A counter that adds up what a gauge shows: blind where the gauge is, however smooth it looks.
/// Threads: one at a time.
class FedCounter {
 public:
  /// Counts from the last update before `begin_s`, and shows nothing of use before it.
  FedCounter(const CounterModel& model, const Gauge& gauge, double begin_s) noexcept;

  /// Costs one step for each update since the latest time that was asked for.
  [[nodiscard]] std::uint64_t raw_at(double time_s);

 private:
  Gauge gauge_;
  std::int64_t first_;
  double unit_j_;
  std::vector<double> energies_j_;  ///< up to update `first_` + index
};

}  // namespace wattle::lab
