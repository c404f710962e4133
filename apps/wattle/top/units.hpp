// The units in which `wattle top` shows an energy. A currency and CO2 are conversions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/quantity.hpp"
#include "wattle/energy.hpp"

namespace wattle::app {

struct TopUnit {
  enum class Dimension : std::uint8_t { joules, kilowatt_hours, price, carbon };
  Dimension dimension = Dimension::joules;
  double per_kwh = 1.0;  ///< of `word`, for a price and for CO2
  std::string word{};    ///< "EUR"; for CO2 "g CO2"

  [[nodiscard]] bool is_conversion() const noexcept {
    return dimension == Dimension::price || dimension == Dimension::carbon;
  }
};

/// "0.30EUR" per kWh. Throws `InvalidArgument`.
[[nodiscard]] TopUnit parse_price(std::string_view text);
/// "380": grams of CO2 per kWh. Throws `InvalidArgument`.
[[nodiscard]] TopUnit parse_carbon(std::string_view text);

/// "1234 J ±12 J", "0.00034 kWh ±0.00001 kWh"; after "≥" where a part of `length` is unknown; "-"
/// where all of it is.
[[nodiscard]] std::string energy_text(const MeasuredEnergy& energy, Seconds length,
                                      const TopUnit& unit);
/// "45.12 W"; per hour in a currency or CO2. `power` is in watts; "-" where it is absent.
[[nodiscard]] std::string power_text(const std::optional<Uncertain>& power, const TopUnit& unit);
/// The conversion in words: "EUR: converted at 0.30 EUR/kWh, not measured"; else empty.
[[nodiscard]] std::string conversion_note(const TopUnit& unit);

}  // namespace wattle::app
