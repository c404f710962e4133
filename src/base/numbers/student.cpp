#include "base/numbers/student.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace wattle {
namespace {

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by
/// Lentz's method.
double beta_fraction(double x, double a, double b) noexcept {
  constexpr int kMostTerms = 500;
  constexpr double kTiny = 1e-300;
  constexpr double kPrecision = 1e-15;
  const auto kept_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0;
  double d = 1.0 / kept_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const std::array<double, 2> terms = {
        m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
    double change = 1.0;
    for (const double term : terms) {
      d = 1.0 / kept_from_zero(1.0 + term * d);
      c = kept_from_zero(1.0 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1.0) < kPrecision) break;
  }
  return fraction;
}

/// `std::lgamma` without its global variable for the sign: `x` is positive here.
double log_gamma(double x) noexcept {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// The regularized incomplete beta function.
double incomplete_beta(double x, double a, double b) noexcept {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  // The fraction converges quickly on one side only.
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(x, a, b) / a;
  return 1.0 - front * beta_fraction(1.0 - x, b, a) / b;
}

/// The probability that Student's t exceeds `t`, which is not negative (Abramowitz and Stegun
/// 26.7.1).
double student_tail(double t, double degrees) noexcept {
  return 0.5 * incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5);
}

}  // namespace

double student_quantile(double probability, double degrees) {
  const double tail = 1.0 - probability;
  double low = 0.0;
  double high = 1.0;
  while (student_tail(high, degrees) > tail && std::isfinite(high)) high *= 2.0;
  // Doubles are that fine.
  for (int halved = 0; halved < 60; ++halved) {
    const double middle = std::midpoint(low, high);
    (student_tail(middle, degrees) > tail ? low : high) = middle;
  }
  return std::midpoint(low, high);
}

double student_critical(double degrees) { return student_quantile(0.975, degrees); }

}  // namespace wattle
