// The rows of an external meter beside the domains of a run: one common grid in time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/numbers/regression.hpp"
#include "calibration/power_curve.hpp"

namespace wattle {

/// A meter's value at a time, in seconds since 1970 or since any other time.
struct MeterSample {
  double time_s = 0.0;
  double power_w = 0.0;
};

/// The values of one domain's sensors during a run.
struct RecordedDomainPower {
  std::string name;
  PowerCurve power;
  /// The time of the device at work varied, by another sensor; absent where none says so.
  std::optional<bool> was_used{};
};

/// A meter's samples, in order, at most `kMostMeterRows` of them: the means of several where the
/// meter is faster than the sensors, or the run is long.
struct MeterRows {
  std::vector<double> time_s;  ///< the end of the row
  std::vector<double> power_w;
  double spacing_s = 0.0;  ///< the median time between two rows
  double period_s = 0.0;   ///< the median time between two samples
  bool are_means = false;  ///< of several samples each
};
inline constexpr std::size_t kMostMeterRows = 3000;

/// Rows from `samples`, in any order, for a run of `length_s` whose domains have one value per
/// `step_s`.
[[nodiscard]] MeterRows rows_of(std::vector<MeterSample> samples, double step_s, double length_s);

/// How the time of a domain's power is related to that of a meter.
struct MeterTiming {
  double shift_s = 0.0;   ///< of the meter's clock: its time minus that of the run
  double window_s = 0.0;  ///< over which the meter takes a mean
  double lag_s = 0.0;     ///< of the meter's own filter of first order
};

/// The rows of an interval, ready for regression. Threads: a value type.
class AlignedRows {
 public:
  /// A meter's filter is either applied to the sensors as well, which keeps its noise small, or
  /// undone, which keeps steps apart from each other.
  enum class Filter : bool { applied, undone };
  /// The rows whose every domain is known.
  AlignedRows(const MeterRows& meter, std::span<const RecordedDomainPower> domains,
              const MeterTiming& timing, Filter filter = Filter::applied);

  [[nodiscard]] std::size_t rows() const noexcept { return y_.size(); }
  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] std::span<const double> x(std::size_t row) const noexcept {
    return {x_.data() + row * columns_, columns_};
  }
  [[nodiscard]] double y(std::size_t row) const noexcept { return y_[row]; }
  [[nodiscard]] double time_s(std::size_t row) const noexcept { return time_s_[row]; }

  [[nodiscard]] NormalSums sums() const;
  /// The changes from each row to the one `apart` rows later: without what varies slowly.
  [[nodiscard]] AlignedRows changes(std::size_t apart) const;

 private:
  AlignedRows() = default;
  void undo_filter(double lag_s, double spacing_s);

  std::size_t columns_ = 0;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> time_s_;
};

}  // namespace wattle
