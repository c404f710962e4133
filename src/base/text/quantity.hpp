// Quantities as people read them: 4 significant digits, a fitting unit, never a locale's comma.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

inline constexpr double kMebibyte = 1048576.0;  ///< in bytes

/// The value in its SI unit, where it is known.
template <class Tag>
[[nodiscard]] constexpr std::optional<double> si(
    const std::optional<Quantity<Tag>>& quantity) noexcept {
  return quantity ? std::optional(quantity->si()) : std::nullopt;
}

/// The two digits of an uncertainty that mean something, in texts and in every JSON: 0.12 for
/// 0.1234, 540 for 538.7. What is not above 0 stays as it is.
/// Exported for the components.
[[nodiscard]] WATTLE_EXPORT Joules with_two_digits(Joules uncertainty);
/// "50.12 J", "12.34 kJ", "61.04 µJ".
[[nodiscard]] std::string to_text(Joules energy);
/// "50.12 J ±0.04 J": the uncertainty with two digits, the energy to the same place. "3080 J ±540
/// J".
[[nodiscard]] std::string to_text(Joules energy, Joules uncertainty);
/// "41.20 W ±0.34 W", in the same way.
[[nodiscard]] std::string to_text(Watts power, Watts uncertainty);
/// The value alone, without the digits below the first one of its uncertainty: "50.1 W" where that
/// is 0.4 W, "0 W" where it is ten times the value. At most 4 significant digits.
[[nodiscard]] std::string rounded_text(Watts power, Watts uncertainty);
[[nodiscard]] std::string rounded_text(Joules energy, Joules uncertainty);
/// A number and its uncertainty, in one unit.
struct Uncertain {
  double value = 0.0;
  double uncertainty = 0.0;
};
/// The most that the uncertainties of `sum` and its `parts` may be for `rounded_text`, so that the
/// rounded parts add up to the rounded sum: "100 J" and "50 J" do not make "140 J", but "97 J" and
/// "48 J" make "145 J". As much as will do: from the largest uncertainty of a part to a tenth of
/// the smallest.
[[nodiscard]] double limit_that_adds_up(const Uncertain& sum, std::span<const Uncertain> parts);

/// "75.12 W", "12.04 kW".
[[nodiscard]] std::string to_text(Watts power);
/// "0.002 s", "12.35 s", "83 min 20 s", "5 h 03 min".
[[nodiscard]] std::string to_text(Seconds time);
/// "1.234 GB": powers of 1000.
[[nodiscard]] std::string bytes_to_text(std::uint64_t bytes);

}  // namespace wattle
