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

bool is_lower_bound(const MeasuredEnergy& energy, Seconds length) noexcept {
  if (!energy.energy || energy.unknown <= Seconds(0)) return false;
  const auto mean = mean_power(energy, length);
  return !mean || *mean * energy.unknown > energy.uncertainty;
}

std::string flags_text(const Flags& flags, std::string_view between) {
  std::string text;
  flags.each([&](std::string_view name) {
    text += (text.empty() ? "" : std::string(between)) + std::string(name);
  });
  return text;
}

}  // namespace wattle::app
