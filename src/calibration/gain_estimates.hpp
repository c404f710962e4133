// The gains of all domains, with errors from blocks in time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/numbers/regression.hpp"
#include "base/numbers/student.hpp"
#include "calibration/alignment.hpp"
#include "calibration/meter_rows.hpp"

namespace wattle {

/// A number and its ± (95 %).
struct CalibratedNumber {
  double value = 0.0;
  double uncertainty = 0.0;
};

/// Each gain is found twice, by the regression of power and by most of its steps; the one that
/// changes less from block to block counts. Threads: a value type.
class GainEstimates {
 public:
  /// `rows`: with the meter's filter applied; `changes`: with the filter undone.
  GainEstimates(const AlignedRows& rows, const AlignedRows& changes,
                const MeterAlignment& alignment);

  [[nodiscard]] std::size_t size() const noexcept { return gains_.size(); }
  [[nodiscard]] const std::vector<double>& gains() const noexcept { return gains_; }
  [[nodiscard]] CalibratedNumber gain(std::size_t domain) const;
  /// True where its ± is small enough for the gain to mean something.
  [[nodiscard]] bool is_determined(std::size_t domain) const;

  /// The standard error of what `number` makes of gains, which are a vector.
  template <class Number>
  [[nodiscard]] double error_of(const Number& number) const {
    std::vector<double> values(without_.size());
    std::ranges::transform(without_, values.begin(), number);
    return jackknife_error(values);
  }
  /// `number` of the gains, with its ±.
  template <class Number>
  [[nodiscard]] CalibratedNumber number_of(const Number& number) const {
    return {.value = number(gains_),
            .uncertainty = error_of(number) * kFewSteps *
                           student_critical(static_cast<double>(without_.size() - 1))};
  }

  [[nodiscard]] CalibratedNumber offset() const;
  /// Which part of a domain's changes is its own: see `own_part`.
  [[nodiscard]] double own(std::size_t domain) const noexcept { return own_[domain]; }
  /// The standard deviations of a domain's power, of the meter, and of what the gains leave of it.
  [[nodiscard]] double spread_w(std::size_t domain) const;
  [[nodiscard]] double meter_spread_w() const;
  [[nodiscard]] double left_w() const noexcept { return left_w_; }

 private:
  /// Blocks of time differ by a few steps of the load each, so that their spread is no normal one:
  /// 95 % of simulated gains lie within this times the ± of the blocks.
  static constexpr double kFewSteps = 1.7;

  std::vector<double> gains_;
  std::vector<std::vector<double>> without_;  ///< each block of time
  std::vector<double> own_;
  NormalSums sums_;
  double left_w_ = 0.0;
};

}  // namespace wattle
