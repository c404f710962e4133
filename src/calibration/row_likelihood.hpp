// The likelihood of a meter's rows, whose errors are correlated in time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibration/meter_rows.hpp"

namespace wattle {

/// A column of the regression, and what is known of its coefficient: a normal distribution.
struct PriorColumn {
  std::span<const double> values;  ///< one per row of the meter
  double factor = 1.0;             ///< of the values
  double mean = 0.0;
  double sd = 1.0;
};

/// Generalized least squares: the power that no column explains is a random walk, and the error of
/// each row has Student's distribution. Threads: one at a time.
class RowLikelihood {
 public:
  explicit RowLikelihood(const MeterRows& meter);

  /// The logarithm of the likelihood of the rows in `known`, but for a constant. `doubt_w`: errors
  /// that come from those of the times. `walk`: the variance that the random walk gains per second,
  /// as a multiple of that of a row.
  [[nodiscard]] double of(std::span<const PriorColumn> columns, const std::vector<bool>& known,
                          std::span<const double> doubt_w, double walk);

  /// The coefficients that make the rows of the last `of` most likely, and their independent
  /// errors: each a change of all coefficients, of one standard error.
  [[nodiscard]] const std::vector<double>& coefficients() const noexcept { return coefficients_; }
  [[nodiscard]] std::vector<std::vector<double>> errors() const;

 private:
  void whiten(std::span<const PriorColumn> columns, const std::vector<bool>& known,
              std::span<const double> doubt_w, double walk);
  void fit(std::span<const PriorColumn> columns);
  void solve_with_prior(std::span<const PriorColumn> columns);
  void add_rows();
  double solve();
  void find_left();
  [[nodiscard]] double weight(double left) const noexcept;

  const MeterRows& meter_;
  double floor_w_;
  std::size_t width_ = 0;  ///< of `rows_`: the columns, and the meter's power
  std::vector<double> rows_;
  std::vector<double> left_;  ///< of each row
  std::vector<double> coefficients_;
  std::vector<double> matrix_;
  std::vector<double> right_;
  double log_size_ = 0.0;
  double log_determinant_ = 0.0;
  double scale_ = 1.0;
};

}  // namespace wattle
