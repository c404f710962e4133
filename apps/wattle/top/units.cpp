#include "top/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "output/energy_words.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kMostPerKwh = 1e9;

/// Decimals that show two digits of `error`; four digits of `value` where it has none.
int decimals_of(double value, double error) {
  constexpr int kMost = 9;
  const double shown = error > 0.0 ? error : std::abs(value);
  if (!(shown > 0.0) || !std::isfinite(shown)) return 0;
  const int digits = error > 0.0 ? 2 : 4;
  return std::clamp(digits - 1 - static_cast<int>(std::floor(std::log10(shown))), 0, kMost);
}

std::string uncertain_text(double value, double error, std::string_view unit) {
  const int decimals = decimals_of(value, error);
  return fmt::format("{:.{}f} {} ±{:.{}f} {}", value, decimals, unit, error, decimals, unit);
}

/// The factor of a conversion, from 0 to `kMostPerKwh`.
std::optional<double> parse_factor(std::string_view text) {
  const auto factor = parse_number<double>(text);
  const bool is_good = factor && std::isfinite(*factor) && *factor >= 0.0 && *factor <= kMostPerKwh;
  return is_good ? factor : std::nullopt;
}

/// "EUR", "€", "$": of what else is in ASCII it may have nothing, neither a comma nor a digit.
bool is_currency(std::string_view word) {
  const auto may_be = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || c == '$' || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
  };
  return !word.empty() && std::ranges::all_of(word, may_be) && printable(word) == word;
}

}  // namespace

TopUnit parse_price(std::string_view text) {
  constexpr std::size_t kLongest = 8;
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto factor = parse_factor(text.substr(0, end));
  const std::string_view word = trimmed(text.substr(end));
  if (!factor || word.size() > kLongest || !is_currency(word)) {
    throw InvalidArgument(
        fmt::format("--price takes the price of a kWh and its currency, such as 0.30EUR (with a "
                    "decimal point), not '{}'",
                    printable(text)));
  }
  return {.dimension = TopUnit::Dimension::price, .per_kwh = *factor, .word = std::string(word)};
}

TopUnit parse_carbon(std::string_view text) {
  const auto factor = parse_factor(text);
  if (!factor) {
    throw InvalidArgument(fmt::format(
        "--carbon takes grams of CO2 per kWh, such as 380.5 (with a decimal point), not '{}'",
        printable(text)));
  }
  return {.dimension = TopUnit::Dimension::carbon, .per_kwh = *factor, .word = "g CO2"};
}

std::string energy_text(const MeasuredEnergy& energy, Seconds length, const TopUnit& unit) {
  if (!energy.energy) return std::string(kUnknownCell);
  const std::string mark(is_lower_bound(energy, length) ? kAtLeastCell : "");
  if (unit.dimension == TopUnit::Dimension::joules)
    return mark + to_text(*energy.energy, energy.uncertainty);
  const double factor = unit.is_conversion() ? unit.per_kwh / kJoulesPerKwh : 1.0 / kJoulesPerKwh;
  return mark + uncertain_text(energy.energy->si() * factor, energy.uncertainty.si() * factor,
                               unit.is_conversion() ? unit.word : "kWh");
}

std::string power_text(const std::optional<Uncertain>& power, const TopUnit& unit) {
  if (!power) return std::string(kUnknownCell);
  if (!unit.is_conversion()) return rounded_text(Watts(power->value), Watts(power->uncertainty));
  const double per_hour = power->value * unit.per_kwh * 3600.0 / kJoulesPerKwh;
  const int decimals = std::min(decimals_of(per_hour, 0.0), 6);
  return fmt::format("{:.{}f} {}/h", per_hour, decimals, unit.word);
}

std::string conversion_note(const TopUnit& unit) {
  if (!unit.is_conversion()) return {};
  return fmt::format("{}: converted at {:g} {}/kWh, not measured", unit.word, unit.per_kwh,
                     unit.word);
}

}  // namespace wattle::app
