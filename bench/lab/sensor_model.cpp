#include "lab/sensor_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lab/random.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::lab {
namespace {

std::chrono::nanoseconds nanoseconds_of(double seconds) noexcept {
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

/// What Wattle finds out about a sensor by watching it.
UpdateInterval discovered(const UpdateModel& model) noexcept {
  constexpr double kNormalP99 = 2.326;
  return {.mean = nanoseconds_of(model.mean_s),
          .spread = nanoseconds_of(model.spread_s),
          .p99 = nanoseconds_of(model.mean_s + kNormalP99 * model.spread_s)};
}

}  // namespace

// With innovations e of variance v, scatter(k) = e(k) + b e(k - 1) has the variance v (1 + b^2) and
// the correlation r = b / (1 + b^2) with its neighbour. The intervals between updates then have the
// variance 2 v (1 + b^2)(1 - r) and the autocorrelation (2 r - 1) / (2 - 2 r).
UpdateTimes::UpdateTimes(const UpdateModel& model, double phase_s, std::uint64_t seed) noexcept
    : mean_s_(model.mean_s), phase_s_(phase_s), seed_(seed) {
  const double r = (1.0 + 2.0 * model.autocorrelation) / (2.0 + 2.0 * model.autocorrelation);
  carry_over_ = r > 0.0 ? (1.0 - std::sqrt(1.0 - 4.0 * r * r)) / (2.0 * r) : 0.0;
  const double variance_s2 =
      model.spread_s * model.spread_s / (2.0 * (1.0 - r) * (1.0 + carry_over_ * carry_over_));
  constexpr double kTriangularVariance = 1.0 / 6.0;  // of the sum of two uniform numbers
  scale_s_ = std::sqrt(variance_s2 / kTriangularVariance);
}

double UpdateTimes::innovation_s(std::int64_t k) const noexcept {
  const std::uint64_t bits = hash(seed_, static_cast<std::uint64_t>(k));
  constexpr double kHalfStep = 0x1p-32;
  const auto low = static_cast<double>(bits & 0xffffffffU);
  const auto high = static_cast<double>(bits >> 32U);
  return scale_s_ * ((low + high) * kHalfStep - 1.0);
}

double UpdateTimes::chance(std::int64_t number) const noexcept {
  return static_cast<double>(hash(~seed_, static_cast<std::uint64_t>(number))) * 0x1p-64;
}

double UpdateTimes::at_s(std::int64_t k) const noexcept {
  const double due_s = static_cast<double>(k) * mean_s_ + phase_s_;
  if (scale_s_ == 0.0) return due_s;
  return due_s + innovation_s(k) + carry_over_ * innovation_s(k - 1);
}

std::int64_t UpdateTimes::last_before(double time_s) const noexcept {
  // The scatter is less than one interval: updates further away are surely before or after.
  const auto nearest = static_cast<std::int64_t>(std::floor((time_s - phase_s_) / mean_s_));
  std::int64_t last = nearest - 1;
  double last_s = at_s(last);
  for (const std::int64_t k : {nearest, nearest + 1}) {
    // Where neighbours changed places, the later one counts.
    const double k_s = at_s(k);
    if (k_s > time_s || k_s < last_s) continue;
    last = k;
    last_s = k_s;
  }
  return last;
}

Channel channel_of(const CounterModel& model) {
  return {.domain = model.domain,
          .counter = {.tick = Joules(model.unit_j),
                      .modulus = model.modulus,
                      .max_power = Watts(model.max_power_w)},
          .update = discovered(model.update),
          .source = "lab",
          .place = model.name};
}

Channel channel_of(const GaugeModel& model) {
  Channel channel = {.domain = Domain::nvidia_gpu(0),
                     .source = "lab",
                     .place = model.name,
                     .metric = model.window_s > model.update.mean_s ? Metric::power_average
                                                                    : Metric::power_instant,
                     .gauge = {.scale = model.quantum_w}};
  const bool is_average = channel.metric == Metric::power_average;
  if (is_average) {
    channel.gauge.longest_lag = kAverageLongestLag;
    channel.gauge.freezes = kAverageFreezes;
  }
  if (!model.is_listed) return channel;
  channel.update = discovered(model.update);
  if (model.listed_update_s > 0.0) channel.update.mean = nanoseconds_of(model.listed_update_s);
  if (model.time_constant_s > 0.0) {
    channel.gauge.time_constant = nanoseconds_of(model.time_constant_s);
    channel.gauge.coverage = 1.0;
    return channel;
  }
  if (is_average) return channel;
  channel.gauge.window = nanoseconds_of(model.window_s);
  if (model.window_s > 0.0) {
    channel.gauge.coverage = std::min(1.0, model.window_s / model.update.mean_s);
  }
  return channel;
}

Gauge::Gauge(const GaugeModel& model, const UpdateTimes& updates, const Waveform& power) noexcept
    : updates_(updates),
      power_(&power),
      window_s_(model.window_s),
      time_constant_s_(model.time_constant_s),
      lag_s_(model.lag_s),
      quantum_w_(model.quantum_w),
      frozen_updates_(model.frozen_updates),
      frozen_below_w_(model.frozen_below_w) {}

double Gauge::lagged_w(double time_s) const noexcept {
  constexpr double kForgotten = 20.0;  // e^-20 of what was before
  const double forgotten_s = time_s - kForgotten * time_constant_s_;
  if (lagged_at_s_ > time_s || lagged_at_s_ < forgotten_s) {
    lagged_at_s_ = forgotten_s;
    lagged_w_ = power_->power_w(forgotten_s);
  }
  lagged_w_ = power_->lagged_w(lagged_at_s_, lagged_w_, time_s, time_constant_s_);
  lagged_at_s_ = time_s;
  return lagged_w_;
}

std::int64_t Gauge::shown_at(std::int64_t k) const noexcept {
  constexpr double kLooksForS = 0.5;
  for (std::int64_t shown = k; shown > k - frozen_updates_; --shown) {
    const bool is_busy = power_->mean_w(updates_.at_s(shown), kLooksForS) >= frozen_below_w_;
    if (is_busy || shown % frozen_updates_ == 0) return shown;
  }
  return k;
}

std::uint64_t Gauge::raw_at_update(std::int64_t k) const noexcept {
  const double at_s = updates_.at_s(frozen_updates_ > 1 ? shown_at(k) : k) - lag_s_;
  const double mean_w = time_constant_s_ > 0.0 ? lagged_w(at_s) : power_->mean_w(at_s, window_s_);
  return static_cast<std::uint64_t>(std::llround(mean_w / quantum_w_));
}

std::uint64_t Gauge::raw_at(double time_s) const noexcept {
  return raw_at_update(updates_.last_before(time_s));
}

Counter::Counter(const CounterModel& model, const UpdateTimes& updates, double start_s,
                 double start_j, const Waveform& power) noexcept
    : updates_(updates),
      power_(&power),
      pause_s_(model.pause_s),
      between_pauses_s_(model.between_pauses_s),
      start_s_(start_s),
      start_j_(start_j),
      tick_j_(model.tick_j),
      units_per_tick_(static_cast<std::uint64_t>(std::llround(model.tick_j / model.unit_j))),
      modulus_(model.modulus) {}

double Counter::running_s(double time_s) const noexcept {
  if (pause_s_ <= 0.0) return time_s;
  constexpr std::int64_t kOffset = -1'000'000'000;
  const double begin_s = updates_.chance(kOffset) * between_pauses_s_;
  const double slot = std::floor((time_s - begin_s) / between_pauses_s_);
  const double part = updates_.chance(static_cast<std::int64_t>(slot));
  const double pause_s = begin_s + slot * between_pauses_s_ + part * (between_pauses_s_ - pause_s_);
  return time_s < pause_s + pause_s_ ? std::min(time_s, pause_s) : time_s;
}

std::uint64_t Counter::raw_at(double time_s) const noexcept {
  const double renewed_s = updates_.at_s(updates_.last_before(running_s(time_s)));
  const double shown_s = std::max(renewed_s, start_s_);
  const double passed_j = power_->energy_j(start_s_, shown_s);
  const auto ticks = static_cast<std::uint64_t>((start_j_ + passed_j) / tick_j_);
  const std::uint64_t raw = ticks * units_per_tick_;
  return modulus_ == 0 ? raw : raw % modulus_;
}

FedCounter::FedCounter(const CounterModel& model, const Gauge& gauge, double begin_s) noexcept
    : gauge_(gauge), first_(gauge.updates().last_before(begin_s)), unit_j_(model.unit_j) {}

std::uint64_t FedCounter::raw_at(double time_s) {
  const UpdateTimes& updates = gauge_.updates();
  const auto wanted =
      static_cast<std::size_t>(std::max<std::int64_t>(updates.last_before(time_s) - first_, 0));
  if (energies_j_.empty()) energies_j_.push_back(0.0);
  while (energies_j_.size() <= wanted) {
    const std::int64_t k = first_ + static_cast<std::int64_t>(energies_j_.size());
    const double power_w = static_cast<double>(gauge_.raw_at_update(k)) * gauge_.quantum_w();
    energies_j_.push_back(energies_j_.back() + power_w * (updates.at_s(k) - updates.at_s(k - 1)));
  }
  return static_cast<std::uint64_t>(energies_j_[wanted] / unit_j_);
}

}  // namespace wattle::lab
