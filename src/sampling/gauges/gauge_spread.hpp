// How much a gauge's values scatter from one sample to the next: what a window's uncertainty is
// made from, since the power between two samples was as far off as that.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/numbers/value_range.hpp"
#include "sampling/timeline/timeline.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Sums what cannot be predicted of each value x(t) from those before it, by least squares:
///
///   x(t) = a + b x(t - 1) + c x(t - 2) + d x(t - 3) + rest(t)      as many as `lags` says
///
/// That is 0 for a sine of any period (b = 2 cos(2 pi h / period), c = -1), however coarse the
/// samples are, and the variance of the values themselves for a power that does not depend
/// on its value one sample before. Memory does not grow with the values. Threads: one at a time.
class Innovations {
 public:
  /// The next value, which was seen at `samples` samples, one after the other.
  void add(double value, std::uint64_t samples) noexcept;
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  /// Sum over all samples of what cannot be predicted from 2 or 3 `lags`, squared. A fit to few
  /// values fits anything: infinite for fewer than `fewest_equations`, one for each sample that has
  /// `lags` samples before it.
  [[nodiscard]] double squares(std::size_t lags, double fewest_equations) const noexcept;

 private:
  static constexpr std::size_t kMostLags = 3;
  void add_sample(double value, double times) noexcept;
  /// The sum of x(t - i), and of x(t - i) x(t - j) where i <= j, over all samples that have `lags`
  /// before them.
  [[nodiscard]] double sum_of(std::size_t i, std::size_t lags) const noexcept;
  [[nodiscard]] double sum_of(std::size_t i, std::size_t j, std::size_t lags) const noexcept;

  double first_ = 0.0;
  std::array<double, kMostLags> earliest_{};  ///< in their order; all values are less the first one
  std::array<double, kMostLags> before_{};    ///< the newest first
  std::uint64_t samples_ = 0;
  double sum_ = 0.0;
  /// Sums of x(t) x(t - lag) over all samples that have it.
  std::array<double, kMostLags + 1> products_{};
};

/// Finds out whether values come back after a few samples: those of a load that is in step with the
/// gauge, its period to the gauge's as two small whole numbers. Such a load is seen at the same few
/// phases again and again. Memory does not grow with the values. Threads: one at a time.
class Recurrence {
 public:
  /// `most_samples`: no more will be added. Stops once too few are left that could still come back.
  explicit Recurrence(std::uint64_t most_samples = ~std::uint64_t{0}) noexcept
      : most_samples_(most_samples) {}
  /// The next value, which was seen at `samples` samples, one after the other.
  void add(double value, std::uint64_t samples) noexcept;
  /// After how many samples they come back, 2 to 8, while they change; 0 where they do not.
  [[nodiscard]] std::uint64_t samples() const noexcept;
  /// Samples before which the value had changed within the last 8.
  [[nodiscard]] std::uint64_t changing() const noexcept { return changing_; }

 private:
  static constexpr std::size_t kMostSamples = 8;
  static constexpr double kMostly = 0.9;  ///< come back: but where a load starts, or ends
  using CountPair [[gnu::vector_size(2 * sizeof(std::int64_t))]] = std::int64_t;
  static constexpr std::array<double, 2 * kMostSamples> none() noexcept {
    std::array<double, 2 * kMostSamples> values{};
    for (double& value : values) value = std::numeric_limits<double>::quiet_NaN();
    return values;
  }
  void add_sample(double value) noexcept;
  [[nodiscard]] std::int64_t came_back_after(std::size_t lag) const noexcept {
    return came_back_[(lag - 2) / 2][(lag - 2) % 2];
  }
  /// True if no number of samples can be that after which values come back.
  [[nodiscard]] bool is_refuted() const noexcept;

  std::uint64_t most_samples_;
  bool is_refuted_ = false;
  /// The values before, the newest first, from `newest_` on: two equal halves, so that eight of
  /// them always follow each other. Those that were not yet there are no numbers, and so like none.
  std::array<double, 2 * kMostSamples> twice_ = none();
  std::size_t newest_ = 0;
  /// By how many more samples are unlike one of the last n than one of the last n - 1.
  std::array<std::int64_t, kMostSamples + 2> changed_from_{};
  /// How often to the value of 2 samples before, of 3 and so on; the last one does not matter.
  std::array<CountPair, kMostSamples / 2> came_back_{};
  std::uint64_t changing_ = 0;
};

/// How a gauge samples the power.
struct GaugeSampling {
  double coverage = 0.0;  ///< the part of the time that it sees
  /// By how much the times of two samples may differ from the times of their readings, as a part of
  /// the time between two samples.
  double jitter = 0.0;
  bool lags = false;  ///< it follows the power with a first-order lag
};

/// The variance of what happens between two samples, h apart, as a part of h^2 times the variance
/// from sample to sample, of a power that is another one at each sample.
[[nodiscard]] double unseen_part(double coverage) noexcept;

/// Finds from the readings of a gauge in and around a window how large their errors can be.
/// Threads: one at a time.
class GaugeSpread {
 public:
  /// A value counts as around the start until `begin_until`, as around the end from `end_from` on.
  /// `spacing`: from one sample of the sensor to the next; `period`: from one reading to the next,
  /// which can be less. `is_whole`: no reading in between will be left out. `most_samples`: that
  /// the readings show.
  GaugeSpread(TimePoint begin_until, TimePoint end_from, std::chrono::nanoseconds spacing,
              std::chrono::nanoseconds period, bool is_whole = true,
              std::uint64_t most_samples = ~std::uint64_t{0}) noexcept
      : begin_until_(begin_until),
        end_from_(end_from),
        spacing_(std::max(spacing, std::chrono::nanoseconds(1))),
        period_(std::min(std::max(period, std::chrono::nanoseconds(1)), spacing_)),
        is_whole_(is_whole),
        recurrence_(most_samples) {}

  /// Takes the next reading, in their order.
  void add(const StoredReading& reading, double watts) noexcept;

  /// The readings of `time` are left out, up to the next one to be added, which is `watts`. From
  /// the last reading to that, the squares of all changes are `squared_changes_w2`.
  void leave_out(double squared_changes_w2, double watts, std::chrono::nanoseconds time) noexcept;

  /// Sum over all samples of the variance of the power from one to the next, in W^2, of a power
  /// that would be another one at each sample (`unseen_part`). It is the least of two: what cannot
  /// be predicted of each value, less what comes from samples that are not equally far apart; and
  /// half the squared changes of neighbours, times how unsteady the power is.
  ///
  /// A change that is alone costs less, since it is only not known where it was. Changes are alone
  /// where values differ twice as much, in squares, over two samples as over one. A power that is
  /// another one at each sample differs as much.
  ///
  /// Where n values come back after k samples, errors do not average out: the power always changes
  /// at the same unknown places between two samples: a change that is alone, n/k times.
  /// What was left out counts as what follows it.
  [[nodiscard]] double scatter_w2(const GaugeSampling& sampling) const noexcept;
  /// By how much the power changed around the ends.
  [[nodiscard]] Watts begin_change() const noexcept { return Watts(begin_range_.width()); }
  [[nodiscard]] Watts end_change() const noexcept { return Watts(end_range_.width()); }
  /// By how much it may change until the next sample: as much as it last did, and more where that
  /// was growing, or as much as it does on average. Where it changed at the last sample for the
  /// first time, `just_begun` times as much as there, or as much as it ever did.
  [[nodiscard]] Watts change_since(double just_begun) const noexcept;
  /// From the one end to the other; negative where it fell.
  [[nodiscard]] Watts overall_rise() const noexcept { return Watts(last_ - first_); }
  /// The variance of the power, in W^2. Of what was left out only what its changes show.
  [[nodiscard]] double variance_w2() const noexcept;
  /// The sum of the squares of its changes from one sample to the next, in W^2.
  [[nodiscard]] double changes_w2() const noexcept { return squared_changes_w2_; }
  /// The same of what is left of each change after the one before it, where that can be predicted:
  /// next to nothing where the values follow a smooth course.
  [[nodiscard]] double bends_w2() const noexcept;
  /// The most that the power fell, or may be about to: from the highest value to the lowest one,
  /// where it fell by a twentieth of that at least.
  [[nodiscard]] Watts fall() const noexcept;
  /// The longest that one value, below the highest before it, was read again and again.
  [[nodiscard]] std::chrono::nanoseconds longest_hold() const noexcept { return longest_hold_; }

 private:
  /// For each sample: more than two of one value add nothing.
  void add_changes_over_two(double watts) noexcept;
  /// From `alone`, where changes are, to 1.
  [[nodiscard]] double unsteadiness(double alone) const noexcept;
  [[nodiscard]] double unforeseen_w2() const noexcept;

  TimePoint begin_until_;
  TimePoint end_from_;
  std::chrono::nanoseconds spacing_;
  std::chrono::nanoseconds period_;
  bool is_first_ = true;
  TimePoint last_sample_;
  double first_ = 0.0;
  double last_ = 0.0;
  double change_before_last_ = 0.0;
  double last_change_ = 0.0;
  double squared_changes_w2_ = 0.0;
  std::uint64_t samples_ = 0;
  double samples_left_out_ = 0.0;
  double sum_w_ = 0.0;       ///< over all samples, of the values less the first one
  double squares_w2_ = 0.0;  ///< of these, squared
  double highest_ = 0.0;
  double lowest_ = 0.0;
  Watts fall_{};
  std::chrono::nanoseconds longest_hold_{0};
  std::array<double, 2> before_{};  ///< the values of the last samples, the newest first
  std::uint64_t samples_before_ = 0;
  double over_one_w2_ = 0.0;  ///< sum of the squares of the changes from one sample to the next
  double over_two_w2_ = 0.0;  ///< the same to the one after that
  bool is_whole_;
  Innovations innovations_;
  Recurrence recurrence_;
  ValueRange begin_range_;
  ValueRange end_range_;
};

}  // namespace wattle
