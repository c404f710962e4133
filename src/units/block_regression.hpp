// Least squares with an intercept for each block of time, and errors that hold where residuals are
// alike from one row to the next.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace wattle::detail {

/// The result, with p columns. Threads: a value type.
struct BlockFit {
  std::size_t rows = 0;
  std::vector<double> gains;
  /// How much more uncertain a gain is than if its column varied alone (variance inflation factor).
  /// Above 10 it means nothing.
  std::vector<double> inflation;
  std::vector<double> correlation;  ///< of columns, p x p
  double intercept = 0.0;           ///< mean over all blocks
  double intercept_half = 0.0;      ///< half of its 95 % interval
  double residual = 0.0;            ///< sum of squares

  /// Half of the 95 % interval of a sum of gains, each times a factor: the wider one of Newey and
  /// West's and of that from 30 clusters in time.
  [[nodiscard]] double half_width(std::span<const double> factors) const;
  /// The gain over the wider of its standard errors.
  [[nodiscard]] double t_value(std::size_t column) const;

  std::vector<double> newey_west{};  ///< covariance, p x p
  std::vector<double> clustered{};
  double degrees = 0.0;  ///< of freedom
  double clusters = 0.0;
};

/// Threads: one at a time.
class BlockRegression {
 public:
  explicit BlockRegression(std::size_t columns) : columns_(columns) {}

  /// Rows come in the order of time; blocks too.
  void add(std::span<const double> x, double y, std::size_t block);
  /// Needs more rows than columns and blocks, by 8 at least: else `rows` is 0.
  [[nodiscard]] BlockFit fit() const;

 private:
  std::size_t columns_;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<std::size_t> block_;
};

/// The inverse of a symmetric matrix, n x n, that has nearly dependent columns: these get large
/// numbers, the others are right.
[[nodiscard]] std::vector<double> stable_inverse(std::span<const double> matrix, std::size_t n);

}  // namespace wattle::detail
