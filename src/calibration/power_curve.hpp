// Power over time, as a table of readings shows it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace wattle {

/// The mean power of an interval. Times are seconds since 1970.
struct PowerStep {
  double begin_s = 0.0;
  double end_s = 0.0;
  double power_w = 0.0;
};

/// Steps one after the other; between them power is unknown. Threads: a value type.
class PowerCurve {
 public:
  PowerCurve() = default;
  /// Steps without length are dropped; of two that overlap, the later one starts where the earlier
  /// one ends.
  explicit PowerCurve(std::vector<PowerStep> steps);

  [[nodiscard]] const std::vector<PowerStep>& steps() const noexcept { return steps_; }
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  /// Requires `!empty()`.
  [[nodiscard]] double begin_s() const noexcept { return steps_.front().begin_s; }
  [[nodiscard]] double end_s() const noexcept { return steps_.back().end_s; }
  /// The median length of a step; 0 where there is none.
  [[nodiscard]] double step_s() const noexcept { return step_s_; }
  /// The energy of all steps, in joules, and how long they are.
  [[nodiscard]] double energy_j() const noexcept;
  [[nodiscard]] double known_s() const noexcept;

  /// The same powers at times that much earlier.
  [[nodiscard]] PowerCurve earlier(double by_s) const;
  /// The mean power between two times, or the power at one; absent where more than 2 % of the time
  /// between them is unknown.
  [[nodiscard]] std::optional<double> mean_w(double from_s, double to_s) const noexcept;

 private:
  friend class FilteredPower;
  /// Energy and known time from the start to a time.
  struct CurveSums {
    double energy_j = 0.0;
    double known_s = 0.0;
  };
  /// How many steps start at that time or before. Requires `!empty()`.
  [[nodiscard]] std::size_t steps_begun(double time_s) const noexcept;
  [[nodiscard]] CurveSums sums_until(double time_s) const noexcept;

  std::vector<PowerStep> steps_;
  std::vector<CurveSums> before_;  ///< what lies before each step
  double step_s_ = 0.0;
};

/// A curve after a filter of first order, as a meter has it. `lag_s`: its time constant; 0: none.
/// Refers to the curve. Threads: a value type.
class FilteredPower {
 public:
  FilteredPower(const PowerCurve& power, double lag_s);

  /// The mean of the filtered power between two times; absent where power is unknown there, or so
  /// shortly before that the filter still shows it.
  [[nodiscard]] std::optional<double> mean_w(double from_s, double to_s) const noexcept;

 private:
  [[nodiscard]] double at(double time_s) const noexcept;

  const PowerCurve* power_;
  double lag_s_;
  std::vector<double> starts_w_;  ///< the filtered power where each step starts
};

}  // namespace wattle
