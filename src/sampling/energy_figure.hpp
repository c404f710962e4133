// An energy with its uncertainty, its unknown time, its flags and its alternatives.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// `time`, or 0 if it is negative.
[[nodiscard]] inline std::chrono::nanoseconds positive(std::chrono::nanoseconds time) noexcept {
  return std::max(time, std::chrono::nanoseconds(0));
}

/// Why an energy with these flags is absent.
[[nodiscard]] std::string_view why_unknown(const Flags& flags) noexcept;

struct EnergyFigure {
  /// Sum over the time that is known: a lower bound where `unknown` is above 0. Absent
  /// where nothing is known.
  std::optional<Joules> energy;
  Joules uncertainty;           ///< of the measuring process, k = 2
  Joules common{};              ///< the part of that which comes back (see `MeasuredEnergy`)
  Joules unseen_uncertainty{};  ///< the part of it for the time that a gauge does not see
  Seconds known{0};             ///< time inside the window whose energy is known
  Seconds unknown{0};           ///< the rest of it
  std::optional<Watts> mean;  ///< over the known time; absent where that is shorter than an update
  std::optional<Watts> max;   ///< highest mean over one interval; absent under two intervals
  std::optional<Watts> max_uncertainty{};  ///< of it, k = 2; absent where it is not known
  Method method = Method::counter;
  Metric metric = Metric::energy;        ///< that it was found from
  std::string_view quantity = "energy";  ///< what reports call that
  /// Gauges: the part of the time that the sensor sampled; absent if it is not known.
  std::optional<double> coverage{};
  /// How often its sensor is renewed, as it was believed; absent if that is not known.
  std::optional<Seconds> update{};
  bool update_is_observed = false;  ///< on this very sensor; otherwise it is what is published
  /// The readings of its sensor have the power just before the start, and just before the end.
  /// Otherwise many such energies can have an error in common that their ± does not hold.
  bool ends_are_seen = false;
  Flags flags;
  std::vector<AlternativeEnergy> alternatives{};

  /// The parts of it that the public interface has.
  [[nodiscard]] WATTLE_EXPORT MeasuredEnergy measured() const noexcept;
  [[nodiscard]] WATTLE_EXPORT BestEnergy best() const;
};

/// Takes over how often the sensor is renewed.
inline void set_update(EnergyFigure& figure, const UpdateInterval& update) noexcept {
  if (update.known()) figure.update = Seconds(update.mean);
  figure.update_is_observed = update.is_observed;
}

}  // namespace wattle
