// The energy of domains that do not overlap, together.
#pragma once

#include <algorithm>

#include "wattle/energy.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Adds up the energies of one window: what is known, a lower bound where a part is not. Sensors
/// that are late are late alike where the power changes alike: see `UncertaintySum`. Threads: one
/// at a time.
class EnergySum {
 public:
  /// `window`: how long it is.
  explicit EnergySum(Seconds window) noexcept : window_(window) {}

  void add(const MeasuredEnergy& part) noexcept {
    sum_.flags |= part.flags;
    sum_.unknown = std::max(sum_.unknown, part.energy ? part.unknown : window_);
    if (!part.energy) return;
    sum_.energy = sum_.energy.value_or(Joules(0.0)) + *part.energy;
    errors_.add(part.uncertainty, part.common);
  }

  /// `unknown`: the longest unknown time of a part; the whole window where nothing is known.
  [[nodiscard]] MeasuredEnergy result() const noexcept {
    MeasuredEnergy result = sum_;
    result.uncertainty = errors_.uncertainty();
    result.common = errors_.common();
    if (!result.energy) result.unknown = window_;
    return result;
  }

 private:
  Seconds window_;
  MeasuredEnergy sum_{};
  UncertaintySum errors_;
};

}  // namespace wattle
