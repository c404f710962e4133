#include "lab/waveform.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

#include "lab/random.hpp"

namespace wattle::lab {
namespace {

/// After so many changes a random load begins anew: trials should hardly ever see the same stretch.
constexpr double kRandomChanges = 30'000.0;

/// A periodic function's time within its period, and the number of whole periods before it.
struct Phase {
  double periods;
  double within_s;
};

Phase phase_of(double time_s, double period_s) noexcept {
  const double periods = std::floor(time_s / period_s);
  // Rounding may carry it over either end.
  return {periods, std::clamp(time_s - periods * period_s, 0.0, period_s)};
}

}  // namespace

Waveform Waveform::of_levels(const std::vector<Level>& levels, double period_s) {
  Steps steps;
  steps.period_s = period_s;
  double energy_j = 0.0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) energy_j += levels[i - 1].power_w * (levels[i].start_s - levels[i - 1].start_s);
    steps.starts_s.push_back(levels[i].start_s);
    steps.powers_w.push_back(levels[i].power_w);
    steps.energies_j.push_back(energy_j);
  }
  steps.period_energy_j = energy_j + levels.back().power_w * (period_s - levels.back().start_s);
  return Waveform(std::make_shared<const Steps>(std::move(steps)));
}

Waveform Waveform::constant(double power_w) { return of_levels({{0.0, power_w}}, 0.0); }

Waveform Waveform::step(double before_w, double after_w) {
  return of_levels({{-1.0, before_w}, {0.0, after_w}}, 0.0);
}

Waveform Waveform::square(double low_w, double high_w, double period_s) {
  return repeated({{0.0, high_w}, {period_s / 2.0, low_w}}, period_s);
}

Waveform Waveform::sine(double mean_w, double amplitude_w, double period_s) {
  return Waveform(Sine{mean_w, amplitude_w, period_s});
}

Waveform Waveform::bursts(double idle_w, double busy_w, double mean_idle_s, double mean_busy_s,
                          std::uint64_t seed) {
  Random random(seed);
  std::vector<Level> levels;
  bool busy = false;
  const double length_s = kRandomChanges * (mean_idle_s + mean_busy_s) / 2.0;
  for (double time_s = 0.0; time_s < length_s; busy = !busy) {
    levels.push_back({time_s, busy ? busy_w : idle_w});
    time_s += random.exponential(busy ? mean_busy_s : mean_idle_s);
  }
  return repeated(levels, length_s);
}

Waveform Waveform::noise(double low_w, double high_w, double mean_hold_s, std::uint64_t seed) {
  Random random(seed);
  std::vector<Level> levels;
  const double length_s = kRandomChanges * mean_hold_s;
  for (double time_s = 0.0; time_s < length_s;) {
    levels.push_back({time_s, random.uniform(low_w, high_w)});
    time_s += random.uniform(0.5 * mean_hold_s, 1.5 * mean_hold_s);
  }
  return repeated(levels, length_s);
}

Waveform Waveform::repeated(const std::vector<Level>& levels, double period_s) {
  return of_levels(levels, period_s);
}

Waveform Waveform::delayed(double later_s) const {
  Waveform moved = *this;
  moved.course_.delay_s += later_s;
  if (moved.enclosure_) {
    moved.enclosure_->begin_s += later_s;
    moved.enclosure_->end_s += later_s;
    moved.enclosure_->outside.delay_s += later_s;
  }
  return moved;
}

Waveform Waveform::only_between(double begin_s, double end_s, const Waveform& outside) const {
  Waveform enclosed = *this;
  enclosed.enclosure_ = {begin_s, end_s, outside.course_};
  return enclosed;
}

std::size_t Waveform::Steps::level_at(double time_s) const noexcept {
  const auto after = std::ranges::upper_bound(starts_s, time_s);
  return after == starts_s.begin() ? 0 : static_cast<std::size_t>(after - starts_s.begin() - 1);
}

double Waveform::Steps::power_w(double time_s) const noexcept {
  if (period_s > 0.0) time_s = phase_of(time_s, period_s).within_s;
  return powers_w[level_at(time_s)];
}

double Waveform::Steps::energy_until_j(double time_s) const noexcept {
  double whole_periods_j = 0.0;
  if (period_s > 0.0) {
    const Phase phase = phase_of(time_s, period_s);
    whole_periods_j = phase.periods * period_energy_j;
    time_s = phase.within_s;
  }
  const std::size_t level = level_at(time_s);
  return whole_periods_j + energies_j[level] + powers_w[level] * (time_s - starts_s[level]);
}

double Waveform::Steps::holds_until_s(double time_s) const noexcept {
  const double begin_s = period_s > 0.0 ? std::floor(time_s / period_s) * period_s : 0.0;
  const auto after = std::ranges::upper_bound(starts_s, time_s - begin_s);
  if (after != starts_s.end()) return begin_s + *after;
  return period_s > 0.0 ? begin_s + period_s : std::numeric_limits<double>::infinity();
}

double Waveform::Steps::squared_w2(double harmonic) const noexcept {
  const double frequency = 2.0 * std::numbers::pi * harmonic / period_s;
  double real = 0.0;
  double imaginary = 0.0;
  for (std::size_t i = 0; i < starts_s.size(); ++i) {
    const double change_w = powers_w[i] - powers_w[i > 0 ? i - 1 : starts_s.size() - 1];
    real += change_w * std::cos(frequency * starts_s[i]);
    imaginary += change_w * std::sin(frequency * starts_s[i]);
  }
  const double angle = frequency * period_s;
  return (real * real + imaginary * imaginary) / (angle * angle);
}

double Waveform::Sine::power_w(double time_s) const noexcept {
  return mean_w + amplitude_w * std::sin(2.0 * std::numbers::pi * time_s / period_s);
}

double Waveform::Sine::energy_until_j(double time_s) const noexcept {
  const double angle = 2.0 * std::numbers::pi / period_s;
  return mean_w * time_s + amplitude_w * (1.0 - std::cos(angle * time_s)) / angle;
}

double Waveform::Sine::weighted_w(double time_s, double time_constant_s) const noexcept {
  const double frequency = 2.0 * std::numbers::pi / period_s;
  const double lag = frequency * time_constant_s;
  const double wave = std::sin(frequency * time_s) - lag * std::cos(frequency * time_s);
  return mean_w + amplitude_w * wave / (1.0 + lag * lag);
}

double Waveform::Course::power_w(double time_s) const noexcept {
  const double shape_s = time_s - delay_s;
  if (const auto* sine = std::get_if<Sine>(&shape)) return sine->power_w(shape_s);
  return std::get<std::shared_ptr<const Steps>>(shape)->power_w(shape_s);
}

double Waveform::Course::energy_j(double begin_s, double end_s) const noexcept {
  const auto between = [&](const auto& of) {
    return of.energy_until_j(end_s - delay_s) - of.energy_until_j(begin_s - delay_s);
  };
  if (const auto* sine = std::get_if<Sine>(&shape)) return between(*sine);
  return between(*std::get<std::shared_ptr<const Steps>>(shape));
}

double Waveform::Course::lagged_w(double begin_s, double end_s, double time_s,
                                  double time_constant_s) const noexcept {
  const auto weight = [&](double at_s) { return std::exp((at_s - time_s) / time_constant_s); };
  if (const auto* sine = std::get_if<Sine>(&shape)) {
    return sine->weighted_w(end_s - delay_s, time_constant_s) * weight(end_s) -
           sine->weighted_w(begin_s - delay_s, time_constant_s) * weight(begin_s);
  }
  const Steps& steps = *std::get<std::shared_ptr<const Steps>>(shape);
  constexpr double kShortestS = 1e-9;  // rounding must not hold it up
  double sum_w = 0.0;
  for (double from_s = begin_s; from_s < end_s;) {
    const double holds_until_s = steps.holds_until_s(from_s - delay_s) + delay_s;
    const double until_s = std::min(std::max(holds_until_s, from_s + kShortestS), end_s);
    const double middle_s = from_s + (until_s - from_s) / 2.0;
    sum_w += steps.power_w(middle_s - delay_s) * (weight(until_s) - weight(from_s));
    from_s = until_s;
  }
  return sum_w;
}

double Waveform::power_w(double time_s) const noexcept {
  const bool is_outside =
      enclosure_ && (time_s < enclosure_->begin_s || time_s >= enclosure_->end_s);
  return is_outside ? enclosure_->outside.power_w(time_s) : course_.power_w(time_s);
}

double Waveform::energy_j(double begin_s, double end_s) const noexcept {
  if (!enclosure_) return course_.energy_j(begin_s, end_s);
  const double inside_begin_s = std::clamp(enclosure_->begin_s, begin_s, end_s);
  const double inside_end_s = std::clamp(enclosure_->end_s, begin_s, end_s);
  return enclosure_->outside.energy_j(begin_s, inside_begin_s) +
         course_.energy_j(inside_begin_s, inside_end_s) +
         enclosure_->outside.energy_j(inside_end_s, end_s);
}

double Waveform::mean_w(double time_s, double window_s) const noexcept {
  if (window_s <= 0.0) return power_w(time_s);
  return energy_j(time_s - window_s, time_s) / window_s;
}

double Waveform::lagged_w(double begin_s, double begin_w, double end_s,
                          double time_constant_s) const noexcept {
  const double left_w = begin_w * std::exp((begin_s - end_s) / time_constant_s);
  if (!enclosure_) return left_w + course_.lagged_w(begin_s, end_s, end_s, time_constant_s);
  const double inside_begin_s = std::clamp(enclosure_->begin_s, begin_s, end_s);
  const double inside_end_s = std::clamp(enclosure_->end_s, begin_s, end_s);
  const Course& outside = enclosure_->outside;
  // NOLINTBEGIN(readability-suspicious-call-argument): the third is the time that is asked for
  return left_w + outside.lagged_w(begin_s, inside_begin_s, end_s, time_constant_s) +
         course_.lagged_w(inside_begin_s, inside_end_s, end_s, time_constant_s) +
         outside.lagged_w(inside_end_s, end_s, end_s, time_constant_s);
  // NOLINTEND(readability-suspicious-call-argument)
}

double Waveform::variance_at_multiples(double period_s, double near) const {
  constexpr double kLastMultiple = 20.0;
  const double own_s = this->period_s();
  if (own_s <= 0.0) return 0.0;
  const double multiples = period_s / own_s;  // of the load's frequency, in the sensor's
  const auto is_near = [&](double harmonic) {
    const double whole = std::round(harmonic * multiples);
    return whole > 0.0 && std::abs(harmonic * multiples - whole) < near;
  };
  if (std::holds_alternative<Sine>(course_.shape)) return is_near(1.0) ? 1.0 : 0.0;
  const Steps& steps = *std::get<std::shared_ptr<const Steps>>(course_.shape);
  const double mean_w = steps.period_energy_j / own_s;
  double variance_w2 = 0.0;
  for (std::size_t i = 0; i < steps.starts_s.size(); ++i) {
    const double until_s = i + 1 < steps.starts_s.size() ? steps.starts_s[i + 1] : own_s;
    variance_w2 +=
        std::pow(steps.powers_w[i] - mean_w, 2.0) * (until_s - steps.starts_s[i]) / own_s;
  }
  if (variance_w2 <= 0.0) return 0.0;
  // Of a random load that hardly ever repeats itself a few harmonics stand for their neighbours.
  constexpr double kMostWork = 5e6;
  const double harmonics = kLastMultiple / multiples;
  const auto levels = static_cast<double>(steps.starts_s.size());
  const double stride = std::ceil(harmonics * 2.0 * near * levels / kMostWork);
  double near_w2 = 0.0;
  for (double harmonic = 1.0; harmonic < harmonics + near / multiples; harmonic += stride) {
    if (is_near(harmonic)) near_w2 += stride * 2.0 * steps.squared_w2(harmonic);
  }
  return near_w2 / variance_w2;
}

double Waveform::lowest_w() const noexcept {
  if (const auto* sine = std::get_if<Sine>(&course_.shape)) return sine->mean_w - sine->amplitude_w;
  return std::ranges::min(std::get<std::shared_ptr<const Steps>>(course_.shape)->powers_w);
}

double Waveform::highest_w() const noexcept {
  if (const auto* sine = std::get_if<Sine>(&course_.shape)) return sine->mean_w + sine->amplitude_w;
  return std::ranges::max(std::get<std::shared_ptr<const Steps>>(course_.shape)->powers_w);
}

double Waveform::period_s() const noexcept {
  if (const auto* sine = std::get_if<Sine>(&course_.shape)) return sine->period_s;
  return std::get<std::shared_ptr<const Steps>>(course_.shape)->period_s;
}

}  // namespace wattle::lab
