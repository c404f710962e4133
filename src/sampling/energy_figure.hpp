// An energy with everything that must be said about it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// No time is less than none.
[[nodiscard]] inline std::chrono::nanoseconds positive(std::chrono::nanoseconds time) noexcept {
  return std::max(time, std::chrono::nanoseconds(0));
}

/// How an energy was found.
enum class Method : std::uint8_t {
  counter,     ///< the difference of a cumulative counter
  integrated,  ///< a power gauge, summed up over time
  estimated,   ///< from a model, not from a sensor
};
/// "counter", "integrated", "estimated".
[[nodiscard]] std::string_view to_string(Method method) noexcept;

/// What another way to the same energy says.
struct AlternativeEnergy {
  Method method = Method::counter;
  std::string_view quantity;  ///< the metric: "energy", "power_instant" ...
  Joules energy;
  Joules uncertainty;  ///< k = 2
  Flags flags;
};

struct EnergyFigure {
  /// Sum over the stretches that are known: a lower bound where `unknown` is above 0. Absent
  /// where nothing is known.
  std::optional<Joules> energy;
  Joules uncertainty;         ///< of the measuring process, k = 2
  Seconds known{0};           ///< time inside the window whose energy is known
  Seconds unknown{0};         ///< the rest of it
  std::optional<Watts> mean;  ///< over the known time; absent where that is shorter than an update
  std::optional<Watts> max;   ///< highest mean over one interval; absent under two intervals
  Method method = Method::counter;
  std::string_view quantity = "energy";  ///< the metric it was found from
  /// Gauges: the part of the time that the sensor looked at; absent where nobody knows.
  std::optional<double> coverage{};
  Flags flags;
  std::vector<AlternativeEnergy> alternatives{};

  /// The part of it that the public interface tells.
  [[nodiscard]] WATTLE_EXPORT MeasuredEnergy measured() const noexcept;
};

}  // namespace wattle
