#include "units/block_regression.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers/student.hpp"

namespace wattle::detail {

namespace {

constexpr std::size_t kClusters = 30;
constexpr std::size_t kSpareRows = 8;

/// factors' V factors.
double quadratic(std::span<const double> covariance, std::span<const double> factors) {
  const std::size_t n = factors.size();
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) sum += factors[i] * covariance[i * n + j] * factors[j];
  }
  return std::max(0.0, sum);
}

/// bread x filling x bread.
std::vector<double> sandwich(std::span<const double> bread, std::span<const double> filling,
                             std::size_t n) {
  const auto product = [n](std::span<const double> a, std::span<const double> b) {
    std::vector<double> result(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) result[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
    return result;
  };
  return product(product(bread, filling), bread);
}

/// Values without the mean of their block, and what the means of the blocks are.
struct Demeaned {
  std::vector<double> values;
  std::vector<double> means;
};

Demeaned demeaned(std::span<const double> values, std::span<const std::size_t> blocks,
                  std::size_t stride, std::size_t column) {
  const std::size_t rows = blocks.size();
  Demeaned result{.values = std::vector<double>(rows), .means = {}};
  for (std::size_t first = 0; first < rows;) {
    std::size_t last = first;
    double sum = 0.0;
    for (; last < rows && blocks[last] == blocks[first]; ++last) {
      sum += values[last * stride + column];
    }
    const double mean = sum / static_cast<double>(last - first);
    for (std::size_t i = first; i < last; ++i) {
      result.values[i] = values[i * stride + column] - mean;
    }
    result.means.push_back(mean);
    first = last;
  }
  return result;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Sums of products of scores (x times residual) of rows up to `lag` apart.
std::vector<double> newey_west_filling(std::span<const double> scores, std::size_t n,
                                       std::size_t rows) {
  const auto most =
      static_cast<std::size_t>(4.0 * std::pow(static_cast<double>(rows) / 100.0, 2.0 / 9.0));
  std::vector<double> filling(n * n, 0.0);
  for (std::size_t lag = 0; lag <= most && lag < rows; ++lag) {
    const double weight = 1.0 - static_cast<double>(lag) / static_cast<double>(most + 1);
    for (std::size_t row = lag; row < rows; ++row) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          const double product = scores[row * n + i] * scores[(row - lag) * n + j];
          filling[i * n + j] += weight * product;
          if (lag > 0) filling[j * n + i] += weight * product;
        }
      }
    }
  }
  return filling;
}

std::vector<double> clustered_filling(std::span<const double> scores, std::size_t n,
                                      std::size_t rows, std::size_t clusters) {
  std::vector<double> filling(n * n, 0.0);
  std::vector<double> sum(n);
  for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
    std::ranges::fill(sum, 0.0);
    for (std::size_t row = cluster * rows / clusters; row < (cluster + 1) * rows / clusters;
         ++row) {
      for (std::size_t i = 0; i < n; ++i) sum[i] += scores[row * n + i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) filling[i * n + j] += sum[i] * sum[j];
    }
  }
  return filling;
}

void scale(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

/// The mean of the intercepts of all blocks.
void find_intercept(BlockFit& fit, const Demeaned& y, std::span<const Demeaned> x) {
  const std::size_t n = x.size();
  const std::size_t blocks = y.means.size();
  std::vector<double> mean_x(n, 0.0);
  std::vector<double> intercepts(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    intercepts[block] = y.means[block];
    for (std::size_t i = 0; i < n; ++i) {
      intercepts[block] -= fit.gains[i] * x[i].means[block];
      mean_x[i] += x[i].means[block] / static_cast<double>(blocks);
    }
    fit.intercept += intercepts[block] / static_cast<double>(blocks);
  }
  double noise = fit.residual / fit.degrees / static_cast<double>(fit.rows);
  if (blocks > 1) {
    double squares = 0.0;
    for (const double value : intercepts)
      squares += (value - fit.intercept) * (value - fit.intercept);
    const auto count = static_cast<double>(blocks);
    noise = std::max(noise, squares / (count * (count - 1.0)));
  }
  const double of_blocks = blocks > 1 ? student_critical(static_cast<double>(blocks) - 1.0)
                                      : student_critical(fit.degrees);
  fit.intercept_half = std::hypot(of_blocks * std::sqrt(noise), fit.half_width(mean_x));
}

}  // namespace

std::vector<double> stable_inverse(std::span<const double> matrix, std::size_t n) {
  // As correlations, with a little on the diagonal.
  constexpr double kRidge = 1e-9;
  std::vector<double> root(n, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (matrix[i * n + i] > 0.0) root[i] = std::sqrt(matrix[i * n + i]);
  }
  std::vector<double> work(n * n);
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    inverse[i * n + i] = 1.0;
    for (std::size_t j = 0; j < n; ++j) work[i * n + j] = matrix[i * n + j] / (root[i] * root[j]);
    work[i * n + i] += kRidge;
  }
  // Gauss and Jordan; positive definite, so no exchange of rows.
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = std::max(work[k * n + k], kRidge);
    for (std::size_t j = 0; j < n; ++j) {
      work[k * n + j] /= pivot;
      inverse[k * n + j] /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = work[i * n + k];
      for (std::size_t j = 0; j < n; ++j) {
        work[i * n + j] -= factor * work[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) inverse[i * n + j] /= root[i] * root[j];
  }
  return inverse;
}

double BlockFit::half_width(std::span<const double> factors) const {
  return std::max(student_critical(degrees) * std::sqrt(quadratic(newey_west, factors)),
                  student_critical(clusters - 1.0) * std::sqrt(quadratic(clustered, factors)));
}

double BlockFit::t_value(std::size_t column) const {
  const std::size_t n = gains.size();
  const double variance = std::max(newey_west[column * n + column], clustered[column * n + column]);
  return variance > 0.0 ? gains[column] / std::sqrt(variance) : 0.0;
}

void BlockRegression::add(std::span<const double> x, double y, std::size_t block) {
  x_.insert(x_.end(), x.begin(), x.end());
  y_.push_back(y);
  block_.push_back(block);
}

BlockFit BlockRegression::fit() const {
  const std::size_t n = columns_;
  const std::size_t rows = y_.size();
  const Demeaned y = demeaned(y_, block_, 1, 0);
  const std::size_t blocks = y.means.size();
  if (n == 0 || rows < n + blocks + kSpareRows) return {};
  std::vector<Demeaned> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(demeaned(x_, block_, n, i));

  BlockFit fit{.rows = rows,
               .gains = std::vector<double>(n, 0.0),
               .inflation = std::vector<double>(n),
               .correlation = std::vector<double>(n * n)};
  std::vector<double> xx(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) xx[i * n + j] = dot(x[i].values, x[j].values);
  }
  const std::vector<double> inverse = stable_inverse(xx, n);
  for (std::size_t i = 0; i < n; ++i) {
    // A column that does not vary has no inverse of its own.
    fit.inflation[i] = xx[i * n + i] > 0.0 ? xx[i * n + i] * inverse[i * n + i]
                                           : std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < n; ++j) {
      fit.gains[i] += inverse[i * n + j] * dot(x[j].values, y.values);
      const double both = std::sqrt(xx[i * n + i] * xx[j * n + j]);
      fit.correlation[i * n + j] = both > 0.0 ? xx[i * n + j] / both : 0.0;
    }
  }

  std::vector<double> scores(rows * n);
  std::vector<std::size_t> rows_of_block(block_.back() + 1, 0);
  for (const std::size_t block : block_) ++rows_of_block[block];
  for (std::size_t row = 0; row < rows; ++row) {
    double residual = y.values[row];
    // How much of its own value a row decides: its residual is too small by that.
    double leverage = 1.0 / static_cast<double>(rows_of_block[block_[row]]);
    for (std::size_t i = 0; i < n; ++i) {
      residual -= fit.gains[i] * x[i].values[row];
      for (std::size_t j = 0; j < n; ++j) {
        leverage += x[i].values[row] * inverse[i * n + j] * x[j].values[row];
      }
    }
    fit.residual += residual * residual;
    residual /= std::max(1.0 - leverage, 0.1);
    for (std::size_t i = 0; i < n; ++i) scores[row * n + i] = residual * x[i].values[row];
  }
  const std::size_t clusters = std::min(kClusters, rows / 3);
  fit.degrees = static_cast<double>(rows - n - blocks);
  fit.clusters = static_cast<double>(clusters);
  fit.newey_west = sandwich(inverse, newey_west_filling(scores, n, rows), n);
  fit.clustered = sandwich(inverse, clustered_filling(scores, n, rows, clusters), n);
  scale(fit.clustered, fit.clusters / (fit.clusters - 1.0));

  find_intercept(fit, y, x);
  return fit;
}

}  // namespace wattle::detail
