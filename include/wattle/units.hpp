// Joules and watts as types of their own: mixing them up does not compile.
// Times and durations are in wattle/clock.hpp.
#pragma once

#include <compare>
#include <iosfwd>
#include <string>

#include "wattle/clock.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// A physical quantity, stored as a double in its SI unit. `Tag` only distinguishes quantities.
/// Threads: a value type.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() noexcept = default;
  /// `si`: the value in the SI unit (joules or watts).
  explicit constexpr Quantity(double si) noexcept : si_(si) {}
  /// The value in the SI unit.
  [[nodiscard]] constexpr double si() const noexcept { return si_; }

  constexpr auto operator<=>(const Quantity&) const noexcept = default;

  constexpr Quantity& operator+=(Quantity other) noexcept {
    si_ += other.si_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) noexcept {
    si_ -= other.si_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) noexcept { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, double factor) noexcept {
    return Quantity(a.si_ * factor);
  }
  friend constexpr Quantity operator*(double factor, Quantity a) noexcept { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) noexcept {
    return Quantity(a.si_ / divisor);
  }
  friend constexpr double operator/(Quantity a, Quantity b) noexcept { return a.si_ / b.si_; }

 private:
  double si_ = 0.0;
};

/// Energy in joules. May be negative as a difference (idle energy removed).
using Joules = Quantity<struct JoulesTag>;
/// Power in watts.
using Watts = Quantity<struct WattsTag>;

/// With four significant digits and a fitting unit: "50.12 J", "12.34 kJ", "75.1 W". The decimal
/// point does not depend on the locale.
[[nodiscard]] WATTLE_EXPORT std::string to_string(Joules energy);
[[nodiscard]] WATTLE_EXPORT std::string to_string(Watts power);
/// Prints `to_string`; with its width, adjustment and fill.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, Joules energy);
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, Watts power);

constexpr Watts operator/(Joules energy, Seconds time) noexcept {
  return Watts(energy.si() / time.count());
}
constexpr Joules operator*(Watts power, Seconds time) noexcept {
  return Joules(power.si() * time.count());
}
constexpr Joules operator*(Seconds time, Watts power) noexcept { return power * time; }

}  // namespace wattle
