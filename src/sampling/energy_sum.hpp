// Energies together: of domains that do not overlap, and of windows that follow each other.
#pragma once

#include <algorithm>

#include "sampling/energy_figure.hpp"
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

/// Joins windows of one domain that follow each other. `max` and the alternatives are those of one
/// window alone, and are lost. Threads: one at a time.
class WindowSum {
 public:
  void add(const EnergyFigure& window) noexcept {
    sum_.flags |= window.flags;
    has_means_ = has_means_ && window.mean.has_value();
    sum_.unknown += window.energy ? window.unknown : window.known + window.unknown;
    if (!window.energy) return;
    sum_.known += window.known;
    sum_.energy = sum_.energy.value_or(Joules(0.0)) + *window.energy;
    errors_.add(window.uncertainty, window.common);
    sum_.method = window.method;
    sum_.metric = window.metric;
    sum_.quantity = window.quantity;
    if (window.method == Method::integrated) integrated_ += window.known;
  }

  /// Its method, metric and quantity are those of the last known window. It has a mean where each
  /// window has one.
  [[nodiscard]] EnergyFigure result() const {
    EnergyFigure result = sum_;
    result.uncertainty = errors_.uncertainty();
    result.common = errors_.common();
    if (result.energy && has_means_ && result.known > Seconds(0)) {
      result.mean = *result.energy / result.known;
    }
    return result;
  }
  /// The time whose energy is from a gauge.
  [[nodiscard]] Seconds integrated() const noexcept { return integrated_; }

 private:
  EnergyFigure sum_{};
  UncertaintySum errors_;
  Seconds integrated_{0};
  bool has_means_ = true;
};

}  // namespace wattle
