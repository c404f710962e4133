#include "calibration/robust_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/numbers/median.hpp"
#include "base/numbers/regression.hpp"

namespace wattle {
namespace {

double left_in(const AlignedRows& rows, std::size_t row, std::span<const double> gains) {
  double left = rows.y(row);
  for (std::size_t i = 0; i < gains.size(); ++i) left -= gains[i] * rows.x(row)[i];
  return left;
}

/// The typical size of the changes in units of the noise, on a logarithmic scale.
double typical_size(std::span<const double> changes, double noise_w) {
  double sum = 0.0;
  for (const double change : changes) sum += std::log1p((change / noise_w) * (change / noise_w));
  return sum / static_cast<double>(changes.size());
}

}  // namespace

RobustFit robust_fit(const AlignedRows& changes, std::span<const double> gains, double noise_w,
                     std::optional<std::size_t> without) {
  constexpr int kTurns = 3;
  RobustFit fit{.gains = {gains.begin(), gains.end()}, .without = without};
  if (without) fit.gains[*without] = 0.0;
  const std::size_t n = changes.rows();
  if (n == 0) return fit;
  std::vector<double> left(n);
  const auto find_left = [&] {
    for (std::size_t k = 0; k < n; ++k) left[k] = left_in(changes, k, fit.gains);
  };
  find_left();
  std::vector<double> sizes(n);
  for (int turn = 0; turn < kTurns; ++turn) {
    std::ranges::transform(left, sizes.begin(), [](double one) { return std::abs(one); });
    const double scale = std::max(noise_w, 1.5 * upper_median(sizes));
    NormalSums sums(changes.columns());
    for (std::size_t k = 0; k < n; ++k) {
      const double part = left[k] / scale;
      sums.add(changes.x(k), changes.y(k), 1.0 / (1.0 + part * part));
    }
    fit.gains = fitted(without ? sums.without(*without) : sums, GainSign::not_negative).gains;
    if (without) fit.gains.insert(fit.gains.begin() + static_cast<std::ptrdiff_t>(*without), 0.0);
    find_left();
  }
  std::vector<double> whole(n);
  for (std::size_t k = 0; k < n; ++k) whole[k] = changes.y(k);
  fit.left = typical_size(left, noise_w) / std::max(typical_size(whole, noise_w), 1e-9);
  return fit;
}

RobustFit robust_fit_of_most(const AlignedRows& changes, std::span<const double> gains,
                             double noise_w) {
  RobustFit best = robust_fit(changes, gains, noise_w);
  if (gains.size() < 3) return best;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    RobustFit other = robust_fit(changes, gains, noise_w, i);
    if (other.left < best.left) best = std::move(other);
  }
  return best;
}

std::vector<double> first_gains(const AlignedRows& rows) {
  std::vector<double> gains(rows.columns(), kUsualGain);
  if (rows.rows() == 0) return gains;
  const LinearFit fit = fitted(rows.sums(), GainSign::not_negative);
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (fit.gains[i] <= 0.0) continue;
    const double thousands = std::round(std::log10(fit.gains[i] / kUsualGain) / 3.0);
    gains[i] *= std::pow(1000.0, thousands);
  }
  return gains;
}

}  // namespace wattle
