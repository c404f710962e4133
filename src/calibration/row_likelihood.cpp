#include "calibration/row_likelihood.hpp"

#include <algorithm>
#include <cmath>

namespace wattle {
namespace {

/// Degrees of freedom of the errors: a few rows far off count little.
constexpr double kFreedom = 3.0;
/// The least error of a row, as a part of the floor.
constexpr double kLeastScale = 0.5;

/// The error of a row that is taken for granted, in watts.
double floor_of(const MeterRows& meter) {
  constexpr double kOfMean = 0.002;
  double sum = 0.0;
  for (const double power_w : meter.power_w) sum += std::abs(power_w);
  return std::max(1e-6, kOfMean * sum / std::max(1.0, static_cast<double>(meter.power_w.size())));
}

}  // namespace

RowLikelihood::RowLikelihood(const MeterRows& meter) : meter_(meter), floor_w_(floor_of(meter)) {}

double RowLikelihood::of(std::span<const PriorColumn> columns, const std::vector<bool>& known,
                         std::span<const double> doubt_w, double walk) {
  whiten(columns, known, doubt_w, walk);
  fit(columns);
  double sum =
      -static_cast<double>(left_.size()) * std::log(scale_) - log_size_ - log_determinant_ / 2.0;
  for (const double left : left_) {
    const double part = left / scale_;
    sum -= (kFreedom + 1.0) / 2.0 * std::log1p(part * part / kFreedom);
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double off = (coefficients_[c] - columns[c].mean) / columns[c].sd;
    sum -= off * off / 2.0 + std::log(columns[c].sd);
  }
  return sum;
}

void RowLikelihood::whiten(std::span<const PriorColumn> columns, const std::vector<bool>& known,
                           std::span<const double> doubt_w, double walk) {
  // A Kalman filter of one state, the same for all columns: what it does not expect is independent
  // from row to row.
  width_ = columns.size() + 1;
  rows_.clear();
  log_size_ = 0.0;
  std::vector<double> level(width_, 0.0);
  std::vector<double> now(width_);
  double variance = -1.0;
  double before_s = 0.0;
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (!known[k]) continue;
    for (std::size_t c = 0; c + 1 < width_; ++c) now[c] = columns[c].factor * columns[c].values[k];
    now.back() = meter_.power_w[k];
    const double own = floor_w_ * floor_w_ + doubt_w[k] * doubt_w[k];
    const double passed_s = meter_.time_s[k] - before_s;
    before_s = meter_.time_s[k];
    if (variance < 0.0) {
      level = now;
      variance = own;
      continue;
    }
    variance += walk * floor_w_ * floor_w_ * passed_s;
    const double root = std::sqrt(variance + own);
    const double part = variance / (variance + own);
    for (std::size_t c = 0; c < width_; ++c) {
      const double left = now[c] - level[c];
      rows_.push_back(left / root);
      level[c] += part * left;
    }
    log_size_ += std::log(root);
    variance *= 1.0 - part;
  }
}

std::vector<std::vector<double>> RowLikelihood::errors() const {
  // `matrix_` is a triangle by then, whose inverse makes the covariance; rows of Student's
  // distribution say a little less than their weights do.
  const double more = std::sqrt((kFreedom + 3.0) / (kFreedom + 1.0));
  const std::size_t n = coefficients_.size();
  std::vector<std::vector<double>> errors(n, std::vector<double>(n, 0.0));
  for (std::size_t e = 0; e < n; ++e) {
    std::vector<double>& error = errors[e];
    error[e] = more;
    for (std::size_t i = e + 1; i-- > 0;) {
      for (std::size_t k = i + 1; k <= e; ++k) error[i] -= matrix_[k * n + i] * error[k];
      error[i] /= matrix_[i * n + i];
    }
  }
  return errors;
}

double RowLikelihood::weight(double left) const noexcept {
  const double part = left / scale_;
  return (kFreedom + 1.0) / (kFreedom + part * part);
}

void RowLikelihood::fit(std::span<const PriorColumn> columns) {
  constexpr int kTurns = 6;
  constexpr double kOfMedian = 1.4826;
  coefficients_.resize(columns.size());
  std::ranges::transform(columns, coefficients_.begin(), &PriorColumn::mean);
  left_.assign(rows_.size() / width_, 0.0);
  scale_ = 1.0;
  if (left_.empty()) {
    solve_with_prior(columns);
    return;
  }
  find_left();
  std::vector<double> sizes(left_.size());
  std::ranges::transform(left_, sizes.begin(), [](double left) { return std::abs(left); });
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  scale_ = std::max(kLeastScale, kOfMedian * *middle);
  for (int turn = 0; turn < kTurns; ++turn) {
    solve_with_prior(columns);
    find_left();
    double squares = 0.0;
    for (const double left : left_) squares += weight(left) * left * left;
    scale_ = std::max(kLeastScale, std::sqrt(squares / static_cast<double>(left_.size())));
  }
}

void RowLikelihood::solve_with_prior(std::span<const PriorColumn> columns) {
  add_rows();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double precision = 1.0 / (columns[c].sd * columns[c].sd);
    matrix_[c * columns.size() + c] += precision;
    right_[c] += precision * columns[c].mean;
  }
  log_determinant_ = solve();
}

void RowLikelihood::find_left() {
  for (std::size_t k = 0; k < left_.size(); ++k) {
    const std::span<const double> row(rows_.data() + k * width_, width_);
    left_[k] = row.back();
    for (std::size_t c = 0; c + 1 < width_; ++c) left_[k] -= coefficients_[c] * row[c];
  }
}

void RowLikelihood::add_rows() {
  const std::size_t n = width_ - 1;
  matrix_.assign(n * n, 0.0);
  right_.assign(n, 0.0);
  for (std::size_t k = 0; k < left_.size(); ++k) {
    const std::span<const double> row(rows_.data() + k * width_, width_);
    const double by = weight(left_[k]) / (scale_ * scale_);
    for (std::size_t i = 0; i < n; ++i) {
      const double weighed = by * row[i];
      right_[i] += weighed * row.back();
      for (std::size_t j = 0; j <= i; ++j) matrix_[i * n + j] += weighed * row[j];
    }
  }
}

/// By Cholesky; returns the logarithm of the determinant.
double RowLikelihood::solve() {
  constexpr double kLeastPivot = 1e-12;
  const std::size_t n = width_ - 1;
  double log_determinant = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = matrix_.data() + i * n;
    for (std::size_t j = 0; j < i; ++j) {
      for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * matrix_[j * n + k];
      row[j] /= matrix_[j * n + j];
    }
    for (std::size_t k = 0; k < i; ++k) {
      row[i] -= row[k] * row[k];
      right_[i] -= row[k] * right_[k];
    }
    row[i] = std::sqrt(std::max(row[i], kLeastPivot));
    log_determinant += 2.0 * std::log(row[i]);
    right_[i] /= row[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) right_[i] -= matrix_[k * n + i] * right_[k];
    right_[i] /= matrix_[i * n + i];
  }
  coefficients_ = right_;
  return log_determinant;
}

}  // namespace wattle
