// The words for a measured energy, in all outputs.
#pragma once

#include <optional>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "wattle/energy.hpp"
#include "wattle/units.hpp"

namespace wattle::app {

/// Over the part of `length` that is known; absent where that is none.
[[nodiscard]] std::optional<Watts> mean_power(const MeasuredEnergy& energy,
                                              Seconds length) noexcept;

/// The same with its uncertainty.
[[nodiscard]] std::optional<Uncertain> uncertain_power(const MeasuredEnergy& energy,
                                                       Seconds length) noexcept;

/// The part of that uncertainty that comes back, in watts: see `MeasuredEnergy::common`.
[[nodiscard]] double common_power(const MeasuredEnergy& energy, Seconds length) noexcept;

/// The sum of mean powers, each over the part of the time that it is known. Threads: one at a time.
class MeanPowerSum {
 public:
  void add(const MeasuredEnergy& energy, Seconds length) noexcept;
  /// `common_w`: the part of its uncertainty that comes back.
  void add(const Uncertain& power, double common_w) noexcept;
  /// Absent where nothing is known.
  [[nodiscard]] std::optional<Uncertain> result() const noexcept;

 private:
  std::optional<double> sum_w_{};
  UncertaintySum errors_{};  ///< in joules a second
};

/// It lacks more than its uncertainty: the last milliseconds of a time are no matter.
[[nodiscard]] bool is_lower_bound(const MeasuredEnergy& energy, Seconds length) noexcept;

/// False for a time that would be printed as 0.
[[nodiscard]] constexpr bool is_shown(Seconds unknown) noexcept {
  constexpr double kLeastShownS = 0.0005;  // of "0.001 s"
  return unknown.count() >= kLeastShownS;
}

}  // namespace wattle::app
