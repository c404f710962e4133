// The gains of all domains, with their errors.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/numbers/regression.hpp"
#include "calibration/meter_model.hpp"
#include "calibration/meter_rows.hpp"

namespace wattle {

/// The gains that explain a meter best.
struct FittedGains {
  MeterTiming timing;
  std::vector<double> gains;
  /// Independent errors: each a change of all gains, of one standard error. Their squares add up.
  std::vector<std::vector<double>> errors;
};

/// `fault`: of the sensor whose steps the meter does not see.
[[nodiscard]] FittedGains fitted_gains(const MeterBeside& beside, const PossibleFault& fault);

/// A number and its ± (95 %).
struct CalibratedNumber {
  double value = 0.0;
  double uncertainty = 0.0;
};

/// Threads: a value type.
class GainEstimates {
 public:
  /// `rows`: with the timing of `fit`.
  GainEstimates(const AlignedRows& rows, FittedGains fit);

  /// The rows of the meter at which all is known, and the time from the first to the last.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] double length_s() const noexcept { return length_s_; }
  [[nodiscard]] const std::vector<double>& gains() const noexcept { return fit_.gains; }
  [[nodiscard]] const MeterTiming& timing() const noexcept { return fit_.timing; }
  [[nodiscard]] CalibratedNumber gain(std::size_t domain) const;
  /// True where its ± is small enough for the gain to mean something.
  [[nodiscard]] bool is_determined(std::size_t domain) const;

  /// The standard error of what `number` makes of gains, which are a vector.
  template <class Number>
  [[nodiscard]] double error_of(const Number& number) const {
    double squares = 0.0;
    for (const std::vector<double>& error : fit_.errors) {
      std::vector<double> more = fit_.gains;
      std::vector<double> less = fit_.gains;
      for (std::size_t i = 0; i < error.size(); ++i) {
        more[i] += error[i];
        less[i] -= error[i];
      }
      const double half = (number(more) - number(less)) / 2.0;
      squares += half * half;
    }
    return kMisfit * std::sqrt(squares);
  }
  /// `number` of the gains, with its ±.
  template <class Number>
  [[nodiscard]] CalibratedNumber number_of(const Number& number) const {
    constexpr double kOf95 = 1.96;  // standard errors
    return {.value = number(fit_.gains), .uncertainty = kOf95 * error_of(number)};
  }

  [[nodiscard]] CalibratedNumber offset() const;
  /// Which part of a domain's changes is its own: see `own_part`.
  [[nodiscard]] double own(std::size_t domain) const noexcept { return own_[domain]; }
  /// The standard deviations of a domain's power, of the meter, and of what the best gains leave of
  /// it.
  [[nodiscard]] double spread_w(std::size_t domain) const;
  [[nodiscard]] double meter_spread_w() const;
  [[nodiscard]] double left_w() const noexcept { return left_w_; }
  /// The part of the meter's variance that the gains explain.
  [[nodiscard]] double explained() const;

 private:
  /// Sensors and meters are not quite what the fit takes them for: 95 % of simulated gains lie
  /// within this times their errors.
  static constexpr double kMisfit = 1.65;

  FittedGains fit_;
  std::size_t rows_ = 0;
  double length_s_ = 0.0;
  NormalSums sums_;
  std::vector<double> own_;
  double left_w_ = 0.0;
};

}  // namespace wattle
