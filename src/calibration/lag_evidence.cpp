#include "calibration/lag_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>

#include "base/numbers/regression.hpp"
#include "base/numbers/student.hpp"
#include "calibration/robust_fit.hpp"

namespace wattle {
namespace {

/// Blocks of time in which a lag must prove itself.
constexpr std::size_t kProofBlocks = 10;

/// The residuals of two fits for a row, or a block of rows, on a logarithmic scale.
struct LeftOfBoth {
  double before = 0.0;
  double after = 0.0;
};

std::vector<double> sizes_left(const AlignedRows& rows, std::span<const double> gains,
                               double noise_w) {
  LinearFit fit;
  fit.gains = robust_fit(rows, gains, noise_w).gains;
  std::vector<double> sizes = rows.residuals(fit);
  for (double& one : sizes) one = std::log1p((one / noise_w) * (one / noise_w));
  return sizes;
}

/// The residuals of the rows that both have.
std::vector<LeftOfBoth> left_of_both(const AlignedRows& before, const AlignedRows& after,
                                     std::span<const double> gains, double noise_w) {
  const std::vector<double> left_before = sizes_left(before, gains, noise_w);
  const std::vector<double> left_after = sizes_left(after, gains, noise_w);
  std::vector<LeftOfBoth> rows;
  for (std::size_t i = 0, k = 0; i < before.rows() && k < after.rows();) {
    if (before.time_s(i) < after.time_s(k)) {
      ++i;
    } else if (after.time_s(k) < before.time_s(i)) {
      ++k;
    } else {
      rows.push_back({left_before[i++], left_after[k++]});
    }
  }
  return rows;
}

}  // namespace

bool fits_better(const AlignedRows& before, const AlignedRows& after, std::span<const double> gains,
                 double noise_w) {
  constexpr std::size_t kLoudest = 2;  // blocks
  constexpr double kLeastGain = 0.15;
  const std::vector<LeftOfBoth> rows = left_of_both(before, after, gains, noise_w);
  if (rows.size() < kProofBlocks) return false;
  std::vector<LeftOfBoth> blocks(kProofBlocks);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LeftOfBoth& block = blocks[i * kProofBlocks / rows.size()];
    block.before += rows[i].before;
    block.after += rows[i].after;
  }
  std::ranges::sort(blocks, std::greater<>(),
                    [](const LeftOfBoth& block) { return block.before - block.after; });
  LeftOfBoth sum;
  for (std::size_t i = kLoudest; i < blocks.size(); ++i) {
    sum.before += blocks[i].before;
    sum.after += blocks[i].after;
  }
  return sum.after < (1.0 - kLeastGain) * sum.before;
}

std::vector<double> lag_uncertainties(const MeterRows& meter,
                                      std::span<const RecordedDomainPower> domains,
                                      const MeterTiming& timing, std::span<const double> lags_s,
                                      double step_s) {
  // The change of a domain's power with its lag is a column of its own, whose factor is what the
  // lag lacks.
  const std::size_t n = domains.size();
  std::vector<RecordedDomainPower> all_three(domains.begin(), domains.end());
  std::vector<double> lags(lags_s.begin(), lags_s.end());
  for (const double more_s : {-step_s, step_s}) {
    all_three.insert(all_three.end(), domains.begin(), domains.end());
    std::ranges::transform(lags_s, std::back_inserter(lags),
                           [more_s](double lag_s) { return lag_s + more_s; });
  }
  const AlignedRows rows(meter, all_three, timing, lags);
  const std::size_t blocks = std::clamp<std::size_t>(rows.rows() / (3 * n + 3), 2, kProofBlocks);
  std::vector<NormalSums> sums(blocks, NormalSums(2 * n));
  NormalSums all(2 * n);
  std::vector<double> row(2 * n);
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      row[i] = rows.x(k)[i];
      row[n + i] = (rows.x(k)[2 * n + i] - rows.x(k)[n + i]) / (2.0 * step_s);
    }
    sums[k * blocks / rows.rows()].add(row, rows.y(k));
    all.add(row, rows.y(k));
  }
  std::vector<std::vector<double>> without(n, std::vector<double>(blocks));
  for (std::size_t block = 0; block < blocks; ++block) {
    NormalSums rest = all;
    rest -= sums[block];
    const LinearFit fit = fitted(rest, GainSign::any);
    for (std::size_t i = 0; i < n; ++i) without[i][block] = fit.gains[n + i] / fit.gains[i];
  }
  std::vector<double> uncertainties(n);
  std::ranges::transform(without, uncertainties.begin(), [blocks](const auto& values) {
    return jackknife_error(values) * student_critical(static_cast<double>(blocks - 1));
  });
  return uncertainties;
}

}  // namespace wattle
