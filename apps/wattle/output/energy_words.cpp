#include "output/energy_words.hpp"

namespace wattle::app {

std::optional<Watts> mean_power(const MeasuredEnergy& energy, Seconds length) noexcept {
  const Seconds known = length - energy.unknown;
  if (!energy.energy || known <= Seconds(0)) return std::nullopt;
  return *energy.energy / known;
}

std::optional<Uncertain> uncertain_power(const MeasuredEnergy& energy, Seconds length) noexcept {
  const auto power = mean_power(energy, length);
  if (!power) return std::nullopt;
  return Uncertain{power->si(), (energy.uncertainty / (length - energy.unknown)).si()};
}

double common_power(const MeasuredEnergy& energy, Seconds length) noexcept {
  return mean_power(energy, length) ? (energy.common / (length - energy.unknown)).si() : 0.0;
}

void MeanPowerSum::add(const MeasuredEnergy& energy, Seconds length) noexcept {
  if (const auto power = uncertain_power(energy, length)) add(*power, common_power(energy, length));
}

void MeanPowerSum::add(const Uncertain& power, double common_w) noexcept {
  sum_w_ = sum_w_.value_or(0.0) + power.value;
  errors_.add(Joules(power.uncertainty), Joules(common_w));
}

std::optional<Uncertain> MeanPowerSum::result() const noexcept {
  if (!sum_w_) return std::nullopt;
  return Uncertain{*sum_w_, errors_.uncertainty().si()};
}

bool is_lower_bound(const MeasuredEnergy& energy, Seconds length) noexcept {
  if (!energy.energy || energy.unknown <= Seconds(0)) return false;
  const auto mean = mean_power(energy, length);
  return !mean || *mean * energy.unknown > energy.uncertainty;
}

}  // namespace wattle::app
