// The regression of one series on several, with errors from blocks in time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wattle {

/// Sums over weighted rows (x1 .. xn, y), as least squares need them. Sums of other rows can be
/// added and taken off. Threads: a value type.
class NormalSums {
 public:
  NormalSums() = default;
  explicit NormalSums(std::size_t columns);

  void add(std::span<const double> x, double y, double weight = 1.0) noexcept;
  NormalSums& operator+=(const NormalSums& other) noexcept;
  NormalSums& operator-=(const NormalSums& other) noexcept;

  /// The sums without one column.
  [[nodiscard]] NormalSums without(std::size_t column) const;

  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  [[nodiscard]] double weight() const noexcept { return weight_; }
  [[nodiscard]] double mean_x(std::size_t i) const noexcept { return x_[i] / weight_; }
  [[nodiscard]] double mean_y() const noexcept { return y_ / weight_; }
  /// Sums of products of differences from the means; never below 0 for i = j.
  [[nodiscard]] double xx(std::size_t i, std::size_t j) const noexcept;
  [[nodiscard]] double xy(std::size_t i) const noexcept;
  [[nodiscard]] double yy() const noexcept;

 private:
  template <class Operation>
  NormalSums& combine(const NormalSums& other, Operation operation) noexcept;

  std::size_t columns_ = 0;
  double weight_ = 0.0;
  double y_ = 0.0;
  double yy_ = 0.0;
  std::vector<double> x_;
  std::vector<double> xx_;  ///< rows of the lower triangle, in a square
  std::vector<double> xy_;
};

/// y = offset + sum of gains[i] x_i.
struct LinearFit {
  std::vector<double> gains;
  double offset = 0.0;
  double residual = 0.0;  ///< sum of squares
};

enum class GainSign : bool { any, not_negative };

/// The least squares. Columns that the others determine share a gain in an arbitrary way: see
/// `own_part`.
[[nodiscard]] LinearFit fitted(const NormalSums& sums, GainSign sign);

/// For each column, which part of its variance the others do not explain: 0 for one that cannot be
/// distinguished from them, or does not vary.
[[nodiscard]] std::vector<double> own_part(const NormalSums& sums);

/// The standard error of a mean-like number from its values where each block of rows in turn is
/// left out: right for residuals that are correlated in time, if less long than a block.
[[nodiscard]] double jackknife_error(std::span<const double> without_each);

}  // namespace wattle
