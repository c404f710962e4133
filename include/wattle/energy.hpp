// A measured energy, its uncertainty and its flags.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// A property of a measured value. None of these is an error: the value is what is known.
enum class Flag : std::uint8_t {
  wrapped,           ///< the counter passed its end on the way; nothing is lost
  reset,             ///< the counter restarted: the time around the restart is unknown
  ambiguous,         ///< read too late: a wrap could also be a reset, or several wraps
  implausible,       ///< a value jumped beyond what the device can do: that time is unknown
  short_window,      ///< shorter than one update of the sensor: the uncertainty is a bound
  gap,               ///< part of the window was not seen (suspended, failing, or standing still)
  lost,              ///< the sensor was gone for a while, or to the end
  late,              ///< the sensor did not answer in time at an end of the window
  partial_coverage,  ///< the sensor sees a part of the time only
  disagrees,         ///< two methods differ by more than their uncertainties
  zero,              ///< the sensor showed no energy at all
  estimated,         ///< a part is estimated: a reading came too late, or a model was used
  unaligned,         ///< the window should start and end at updates, which did not come
  clock_stepped,     ///< asked for in Unix seconds: the wall clock was set within the window
  stuck,             ///< the counter did not move though it must have: the energy is unknown
  coverage_unknown,  ///< how much of the time the sensor sees is not known
  in_step,           ///< a sum of runs in step with a sensor's updates: their errors add up
  ends_unseen,       ///< a sum of runs around whose ends a counter did not show the power
};

/// The names of the flags, in the order of `Flag`: as they stand in every report.
inline constexpr std::array<std::string_view, 18> kFlagNames = {
    "wrapped",          "reset",         "ambiguous", "implausible",
    "short_window",     "gap",           "lost",      "late",
    "partial_coverage", "disagrees",     "zero",      "estimated",
    "unaligned",        "clock_stepped", "stuck",     "coverage_unknown",
    "in_step",          "ends_unseen"};

/// A set of flags. Threads: a value type.
class Flags {
 public:
  constexpr void set(Flag flag) noexcept { bits_ |= bit(flag); }
  [[nodiscard]] static constexpr Flags of(Flag flag) noexcept {
    return Flags::from_bits(bit(flag));
  }
  [[nodiscard]] constexpr bool has(Flag flag) const noexcept { return (bits_ & bit(flag)) != 0; }
  [[nodiscard]] constexpr bool none() const noexcept { return bits_ == 0; }
  /// The set as a number, and back: to store it.
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }
  [[nodiscard]] static constexpr Flags from_bits(std::uint32_t bits) noexcept {
    Flags flags;
    flags.bits_ = bits & ((std::uint32_t{1} << kFlagNames.size()) - 1);
    return flags;
  }
  constexpr Flags& operator|=(Flags other) noexcept {
    bits_ |= other.bits_;
    return *this;
  }
  friend constexpr bool operator==(Flags, Flags) noexcept = default;

  /// Calls `visit(name)` for each flag that is set, in the order of `Flag`.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < kFlagNames.size(); ++i) {
      if (has(static_cast<Flag>(i))) visit(kFlagNames.at(i));
    }
  }

 private:
  static constexpr std::uint32_t bit(Flag flag) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(flag);
  }
  std::uint32_t bits_ = 0;
};

/// The uncertainty (k = 2) of a sum of energies. The parts common to all of them add up with their
/// signs, the rest in quadrature:
///
///   U^2 = sum over the parts of (U_i^2 - C_i^2) + (sum of C_i)^2
///
/// So 100 runs that a sensor showed late by 1 J each are 100 J off, not 10. If one window ends
/// where the next starts, the energy that one lacks is in the other. Threads: a value type.
class UncertaintySum {
 public:
  /// `uncertainty`: not negative. A `common` of more than that counts as all of it.
  constexpr void add(Joules uncertainty, Joules common) noexcept {
    const double most_j = uncertainty.si();
    const double common_j = std::clamp(common.si(), -most_j, most_j);
    independent_j2_ += most_j * most_j - common_j * common_j;
    common_j_ += common_j;
  }
  /// That of a part that is taken off.
  constexpr void subtract(Joules uncertainty, Joules common) noexcept {
    add(uncertainty, Joules(-common.si()));
  }
  [[nodiscard]] WATTLE_EXPORT Joules uncertainty() const noexcept;
  [[nodiscard]] constexpr Joules common() const noexcept { return Joules(common_j_); }

 private:
  double independent_j2_ = 0.0;
  double common_j_ = 0.0;
};

/// The energy that was spent in a time, as a sensor reports it. Threads: a value type.
struct MeasuredEnergy {
  /// Sum over the part of the time that is known: a lower bound where `unknown` is above 0. Absent
  /// where nothing is known. Negative only where something was taken off: idle energy, or what was
  /// spent while an aligned meter waited.
  std::optional<Joules> energy{};
  /// The uncertainty of the measuring process, k = 2: the true energy lies within `energy` +- this
  /// in 95 % of all cases. It does not include the sensor's calibration error. Means nothing where
  /// `energy` is absent.
  Joules uncertainty{};
  /// The part of `uncertainty` that comes back in each window of the same kind, with its sign: what
  /// the sensor shows late. In a sum of energies these parts add up, with their signs; only the
  /// rest averages out (see `UncertaintySum`). Its size is at most `uncertainty`.
  Joules common{};
  /// The part of the time whose energy is not known.
  Seconds unknown{0};
  Flags flags{};

  friend bool operator==(const MeasuredEnergy&, const MeasuredEnergy&) = default;
};

/// How an energy was found.
enum class Method : std::uint8_t {
  counter,     ///< the difference of a cumulative counter
  integrated,  ///< a power gauge, summed up over time
  estimated,   ///< from a model, not from a sensor
};
/// "counter", "integrated", "estimated".
[[nodiscard]] WATTLE_EXPORT std::string_view to_string(Method method) noexcept;

/// The energy found in another way. Threads: a value type.
struct AlternativeEnergy {
  Method method = Method::counter;
  /// The metric: "energy", "power_instant" ... Its characters live as long as the program.
  std::string_view quantity;
  /// Absent if that way knows nothing; its flags have the reason.
  std::optional<Joules> energy;
  Joules uncertainty;  ///< k = 2
  Flags flags;
};

/// An energy that several sensors can show: the figure with the least doubt, and the others.
/// Threads: a value type.
struct BestEnergy : MeasuredEnergy {
  Method method = Method::counter;
  std::string_view quantity = "energy";  ///< what it was found from, as in `AlternativeEnergy`
  /// Gauges: the part of the time that the sensor sees; absent if it is not known.
  std::optional<double> coverage{};
  std::vector<AlternativeEnergy> alternatives{};
};

/// The energy of a domain of this machine. Threads: a value type.
struct DomainEnergy {
  std::string domain;  ///< "package_0", "nvidia_gpu_0" ...
  BestEnergy energy;
  std::string source;        ///< "perf", "powercap", "nvml" ...
  std::string contained_in;  ///< the domain whose energy includes this one's; empty: none
};

/// Prints the names of the flags, with commas; "none" for an empty set.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, Flags flags);
/// Prints "12.50 J ±0.50 J (gap)", with "at least" where a part is unknown; "unknown" where all is.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const MeasuredEnergy& energy);
/// Prints "energy (counter): 12.50 J ±0.50 J".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const AlternativeEnergy& energy);
/// Prints "package_0: 12.50 J ±0.50 J".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const DomainEnergy& energy);

}  // namespace wattle
