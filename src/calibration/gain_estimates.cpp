#include "calibration/gain_estimates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers/median.hpp"
#include "calibration/robust_fit.hpp"

namespace wattle {
namespace {

/// A gain with a larger ± (as a part of it) shows nothing.
constexpr double kMostDoubt = 0.3;
/// An error that no block shows, since it is the same in all: fans that follow the heat, a supply
/// whose efficiency depends on the load. As a part of a gain.
constexpr double kSameInAll = 0.02;

/// Weights of Huber: rows far from the fit, as a meter's errors, count less.
std::vector<double> robust_weights(const std::vector<double>& residuals) {
  std::vector<double> sizes(residuals.size());
  std::ranges::transform(residuals, sizes.begin(), [](double left) { return std::abs(left); });
  std::vector<double> reordered = sizes;
  const double limit = 2.5 * 1.4826 * upper_median(reordered);
  std::vector<double> weights(sizes.size(), 1.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (sizes[i] > limit) weights[i] = limit / sizes[i];
  }
  return weights;
}

/// A fit of all rows, and of those without each block.
struct BlockedFit {
  LinearFit all;
  std::vector<std::vector<double>> without;
  NormalSums sums;
  double left_w = 0.0;
};

BlockedFit blocked_fit(const AlignedRows& rows, std::size_t blocks) {
  constexpr int kTurns = 4;
  BlockedFit fit;
  std::vector<double> weights;
  std::vector<NormalSums> sums;
  for (int turn = 0; turn < kTurns; ++turn) {
    sums = rows.sums_of_blocks(blocks, weights);
    fit.sums = NormalSums(rows.columns());
    for (const NormalSums& block : sums) fit.sums += block;
    fit.all = fitted(fit.sums, GainSign::any);
    weights = robust_weights(rows.residuals(fit.all));
  }
  for (const NormalSums& block : sums) {
    NormalSums rest = fit.sums;
    rest -= block;
    fit.without.push_back(fitted(rest, GainSign::any).gains);
  }
  fit.left_w = std::sqrt(fit.all.residual / fit.sums.weight());
  return fit;
}

double error_of_one(const std::vector<std::vector<double>>& without, std::size_t domain) {
  std::vector<double> values(without.size());
  std::ranges::transform(without, values.begin(),
                         [domain](const auto& gains) { return gains[domain]; });
  return jackknife_error(values);
}

}  // namespace

GainEstimates::GainEstimates(const AlignedRows& rows, const AlignedRows& changes,
                             const MeterAlignment& alignment) {
  constexpr std::size_t kMostBlocks = 12;
  constexpr std::size_t kLeastBlocks = 4;
  const std::size_t blocks =
      std::clamp(rows.rows() / (rows.columns() + 2), kLeastBlocks, kMostBlocks);
  BlockedFit fit = blocked_fit(rows, blocks);
  own_ = own_part(fit.sums);
  left_w_ = fit.left_w;
  gains_ = std::move(fit.all.gains);
  without_ = std::move(fit.without);
  sums_ = std::move(fit.sums);
  const auto by_steps = robust_fit(changes, alignment.gains, alignment.noise_w).gains;
  const auto steps_without =
      gains_without_blocks(changes, alignment.gains, alignment.noise_w, blocks);
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    // A gain of 0 is at the edge of what is possible, and its error looks too small.
    if (by_steps[i] <= 0.0 || error_of_one(steps_without, i) >= error_of_one(without_, i)) continue;
    gains_[i] = by_steps[i];
    for (std::size_t block = 0; block < blocks; ++block) {
      without_[block][i] = steps_without[block][i];
    }
  }
}

CalibratedNumber GainEstimates::gain(std::size_t domain) const {
  CalibratedNumber gain =
      number_of([domain](const std::vector<double>& gains) { return gains[domain]; });
  gain.uncertainty = std::hypot(gain.uncertainty, kSameInAll * gain.value);
  return gain;
}

bool GainEstimates::is_determined(std::size_t domain) const {
  const CalibratedNumber found = gain(domain);
  return found.value > 0.0 && found.uncertainty <= kMostDoubt * found.value;
}

CalibratedNumber GainEstimates::offset() const {
  return number_of([this](const std::vector<double>& gains) {
    double offset = sums_.mean_y();
    for (std::size_t i = 0; i < gains.size(); ++i) offset -= gains[i] * sums_.mean_x(i);
    return offset;
  });
}

double GainEstimates::spread_w(std::size_t domain) const {
  return std::sqrt(sums_.xx(domain, domain) / sums_.weight());
}

double GainEstimates::meter_spread_w() const { return std::sqrt(sums_.yy() / sums_.weight()); }

}  // namespace wattle
