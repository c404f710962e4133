#include "base/numbers/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wattle {
namespace {

/// A symmetric matrix of columns that were scaled to variance 1.
struct ScaledSystem {
  std::vector<double> scale;  ///< 0 for a column that does not vary
  std::vector<double> matrix;
  std::vector<double> right;
  std::size_t size = 0;

  [[nodiscard]] double at(std::size_t i, std::size_t j) const noexcept {
    return matrix[i * size + j];
  }
};

// Columns that others determine but for rounding keep the system solvable with this.
constexpr double kRidge = 1e-9;

ScaledSystem scaled(const NormalSums& sums) {
  const std::size_t n = sums.columns();
  ScaledSystem system;
  system.size = n;
  system.scale.resize(n);
  system.matrix.assign(n * n, 0.0);
  system.right.assign(n, 0.0);
  const auto varies = [&](std::size_t i) {
    const double mean = sums.mean_x(i);
    return sums.xx(i, i) > 1e-12 * sums.weight() * mean * mean && sums.xx(i, i) > 0.0;
  };
  for (std::size_t i = 0; i < n; ++i) {
    system.scale[i] = varies(i) ? 1.0 / std::sqrt(sums.xx(i, i)) : 0.0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    system.right[i] = sums.xy(i) * system.scale[i];
    for (std::size_t j = 0; j < n; ++j) {
      system.matrix[i * n + j] = sums.xx(i, j) * system.scale[i] * system.scale[j];
    }
    system.matrix[i * n + i] = 1.0 + kRidge;
  }
  return system;
}

/// Solves for the columns of `chosen`, by Cholesky; what they leave is 0.
std::vector<double> solved(const ScaledSystem& system, const std::vector<std::size_t>& chosen,
                           const std::vector<double>& right) {
  const std::size_t n = chosen.size();
  std::vector<double> lower(n * n, 0.0);
  std::vector<double> z(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = system.at(chosen[i], chosen[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i * n + k] * lower[j * n + k];
      lower[i * n + j] = i == j ? std::sqrt(std::max(sum, kRidge)) : sum / lower[j * n + j];
    }
    double sum = right[chosen[i]];
    for (std::size_t k = 0; k < i; ++k) sum -= lower[i * n + k] * z[k];
    z[i] = sum / lower[i * n + i];
  }
  std::vector<double> x(system.size, 0.0);
  for (std::size_t i = n; i-- > 0;) {
    double sum = z[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= lower[k * n + i] * x[chosen[k]];
    x[chosen[i]] = sum / lower[i * n + i];
  }
  return x;
}

/// The column outside of `chosen` that would lower the squares most; `size` where none does.
std::size_t best_to_add(const ScaledSystem& system, const std::vector<std::size_t>& chosen,
                        const std::vector<double>& x, double least) {
  std::size_t best = system.size;
  for (std::size_t i = 0; i < system.size; ++i) {
    if (system.scale[i] == 0.0 || std::ranges::find(chosen, i) != chosen.end()) continue;
    double slope = system.right[i];
    for (std::size_t j = 0; j < system.size; ++j) slope -= system.at(i, j) * x[j];
    if (slope > least) {
      least = slope;
      best = i;
    }
  }
  return best;
}

/// Moves from `x` towards `target` until a column gets 0, and leaves that column out; true where
/// the target is reached.
bool moved_to(std::vector<double>& x, const std::vector<double>& target,
              std::vector<std::size_t>& chosen) {
  double part = 1.0;
  for (const std::size_t i : chosen) {
    if (target[i] <= 0.0) part = std::min(part, x[i] / (x[i] - target[i]));
  }
  if (part >= 1.0) {
    x = target;
    return true;
  }
  for (const std::size_t i : chosen) x[i] += part * (target[i] - x[i]);
  std::erase_if(chosen, [&](std::size_t i) { return x[i] <= 1e-12; });
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::ranges::find(chosen, i) == chosen.end()) x[i] = 0.0;
  }
  return false;
}

/// Lawson and Hanson, Solving Least Squares Problems, chapter 23.
std::vector<double> solved_not_negative(const ScaledSystem& system, double size_of_y) {
  std::vector<std::size_t> chosen;
  std::vector<double> x(system.size, 0.0);
  const double least = 1e-10 * size_of_y;
  for (std::size_t turn = 0; turn < 3 * system.size + 3; ++turn) {
    const std::size_t next = best_to_add(system, chosen, x, least);
    if (next == system.size) break;
    chosen.push_back(next);
    while (!chosen.empty() && !moved_to(x, solved(system, chosen, system.right), chosen)) {
    }
  }
  return x;
}

std::vector<std::size_t> varying(const ScaledSystem& system) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < system.size; ++i) {
    if (system.scale[i] > 0.0) columns.push_back(i);
  }
  return columns;
}

}  // namespace

NormalSums::NormalSums(std::size_t columns)
    : columns_(columns), x_(columns), xx_(columns * columns), xy_(columns) {}

void NormalSums::add(std::span<const double> x, double y, double weight) noexcept {
  weight_ += weight;
  y_ += weight * y;
  yy_ += weight * y * y;
  for (std::size_t i = 0; i < columns_; ++i) {
    const double weighed = weight * x[i];
    x_[i] += weighed;
    xy_[i] += weighed * y;
    for (std::size_t j = 0; j <= i; ++j) xx_[i * columns_ + j] += weighed * x[j];
  }
}

template <class Operation>
NormalSums& NormalSums::combine(const NormalSums& other, Operation operation) noexcept {
  const auto combine_all = [operation](std::vector<double>& to, const std::vector<double>& from) {
    std::ranges::transform(to, from, to.begin(), operation);
  };
  weight_ = operation(weight_, other.weight_);
  y_ = operation(y_, other.y_);
  yy_ = operation(yy_, other.yy_);
  combine_all(x_, other.x_);
  combine_all(xx_, other.xx_);
  combine_all(xy_, other.xy_);
  return *this;
}

NormalSums& NormalSums::operator+=(const NormalSums& other) noexcept {
  return combine(other, std::plus<>());
}

NormalSums& NormalSums::operator-=(const NormalSums& other) noexcept {
  return combine(other, std::minus<>());
}

NormalSums NormalSums::without(std::size_t column) const {
  NormalSums rest(columns_ - 1);
  rest.weight_ = weight_;
  rest.y_ = y_;
  rest.yy_ = yy_;
  for (std::size_t i = 0, to = 0; i < columns_; ++i) {
    if (i == column) continue;
    rest.x_[to] = x_[i];
    rest.xy_[to] = xy_[i];
    for (std::size_t j = 0, over = 0; j <= i; ++j) {
      if (j != column) rest.xx_[to * rest.columns_ + over++] = xx_[i * columns_ + j];
    }
    ++to;
  }
  return rest;
}

double NormalSums::xx(std::size_t i, std::size_t j) const noexcept {
  const double sum = i >= j ? xx_[i * columns_ + j] : xx_[j * columns_ + i];
  const double product = sum - x_[i] * x_[j] / weight_;
  return i == j ? std::max(product, 0.0) : product;
}

double NormalSums::xy(std::size_t i) const noexcept { return xy_[i] - x_[i] * y_ / weight_; }

double NormalSums::yy() const noexcept { return std::max(yy_ - y_ * y_ / weight_, 0.0); }

LinearFit fitted(const NormalSums& sums, GainSign sign) {
  const ScaledSystem system = scaled(sums);
  const std::vector<double> x = sign == GainSign::any
                                    ? solved(system, varying(system), system.right)
                                    : solved_not_negative(system, std::sqrt(sums.yy()));
  LinearFit fit{
      .gains = std::vector<double>(system.size), .offset = sums.mean_y(), .residual = sums.yy()};
  for (std::size_t i = 0; i < system.size; ++i) {
    fit.gains[i] = x[i] * system.scale[i];
    fit.offset -= fit.gains[i] * sums.mean_x(i);
    fit.residual -= 2.0 * x[i] * system.right[i];
    if (system.scale[i] == 0.0) continue;
    for (std::size_t j = 0; j < system.size; ++j) {
      if (system.scale[j] > 0.0) fit.residual += x[i] * x[j] * system.at(i, j);
    }
  }
  fit.residual = std::max(fit.residual, 0.0);
  return fit;
}

std::vector<double> own_part(const NormalSums& sums) {
  const ScaledSystem system = scaled(sums);
  const std::vector<std::size_t> columns = varying(system);
  std::vector<double> parts(system.size, 0.0);
  for (const std::size_t i : columns) {
    std::vector<double> unit(system.size, 0.0);
    unit[i] = 1.0;
    const double inverse = solved(system, columns, unit)[i];
    if (inverse > 0.0) parts[i] = std::clamp(1.0 / inverse, 0.0, 1.0);
  }
  return parts;
}

double jackknife_error(std::span<const double> without_each) {
  const auto n = static_cast<double>(without_each.size());
  if (without_each.size() < 2) return std::numeric_limits<double>::infinity();
  double mean = 0.0;
  for (const double value : without_each) mean += value / n;
  double squares = 0.0;
  for (const double value : without_each) squares += (value - mean) * (value - mean);
  return std::sqrt(squares * (n - 1.0) / n);
}

}  // namespace wattle
