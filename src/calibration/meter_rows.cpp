#include "calibration/meter_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/numbers/median.hpp"

namespace wattle {
namespace {

double median_spacing(const std::vector<MeterSample>& samples) {
  std::vector<double> spacings;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    spacings.push_back(samples[i].time_s - samples[i - 1].time_s);
  }
  return spacings.empty() ? 0.0 : upper_median(spacings);
}

/// Drops single values far from their neighbours and outside of what the meter shows otherwise:
/// errors of the meter.
void drop_spikes(std::vector<MeterSample>& samples) {
  constexpr std::size_t kFew = 20;
  constexpr std::size_t kBeside = 2;
  if (samples.size() < kFew) return;
  std::vector<double> sorted;
  std::ranges::transform(samples, std::back_inserter(sorted), &MeterSample::power_w);
  std::ranges::sort(sorted);
  const double low = sorted[sorted.size() / 50];
  const double high = sorted[sorted.size() - 1 - sorted.size() / 50];
  const double range = high - low;
  std::vector<MeterSample> kept;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double power_w = samples[i].power_w;
    std::array<double, 2 * kBeside + 1> near{};
    const std::size_t first =
        std::min(std::max(i, kBeside) - kBeside, samples.size() - near.size());
    for (std::size_t k = 0; k < near.size(); ++k) near.at(k) = samples[first + k].power_w;
    std::ranges::nth_element(near, near.begin() + kBeside);
    const bool is_outside = power_w < low - 0.1 * range || power_w > high + 0.1 * range;
    const bool is_far = std::abs(power_w - near[kBeside]) > 0.3 * range;
    if (!is_outside || !is_far) kept.push_back(samples[i]);
  }
  samples = std::move(kept);
}

}  // namespace

MeterRows rows_of(std::vector<MeterSample> samples, double step_s, double length_s) {
  std::ranges::stable_sort(samples, {}, &MeterSample::time_s);
  // If several values have one time, the last one counts.
  std::ranges::reverse(samples);
  const auto same = std::ranges::unique(samples, {}, &MeterSample::time_s);
  samples.erase(same.begin(), same.end());
  std::ranges::reverse(samples);
  drop_spikes(samples);
  MeterRows rows;
  rows.period_s = median_spacing(samples);
  if (samples.size() < 2) return rows;
  const double wanted_s = std::max(step_s, length_s / static_cast<double>(kMostMeterRows));
  const auto group = static_cast<std::size_t>(std::max(1.0, std::round(wanted_s / rows.period_s)));
  rows.are_means = group > 1;
  rows.spacing_s = rows.period_s * static_cast<double>(group);
  for (std::size_t i = 0; i + group <= samples.size(); i += group) {
    const double first_s = samples[i].time_s;
    const double last_s = samples[i + group - 1].time_s;
    if (last_s - first_s > 1.5 * rows.spacing_s) continue;  // a gap
    double sum = 0.0;
    for (std::size_t k = i; k < i + group; ++k) sum += samples[k].power_w;
    rows.time_s.push_back(last_s);
    rows.power_w.push_back(sum / static_cast<double>(group));
  }
  return rows;
}

AlignedRows::AlignedRows(const MeterRows& meter, std::span<const RecordedDomainPower> domains,
                         const MeterTiming& timing, Filter filter)
    : columns_(domains.size()) {
  if (domains.empty()) return;
  double begin_s = domains.front().power.begin_s();
  double end_s = domains.front().power.end_s();
  for (const RecordedDomainPower& domain : domains) {
    begin_s = std::max(begin_s, domain.power.begin_s());
    end_s = std::min(end_s, domain.power.end_s());
  }
  const auto first = std::ranges::lower_bound(meter.time_s, begin_s + timing.shift_s);
  const auto last = std::ranges::upper_bound(meter.time_s, end_s + timing.shift_s);
  std::vector<FilteredPower> powers;
  powers.reserve(columns_);
  for (const RecordedDomainPower& domain : domains) {
    powers.emplace_back(domain.power, filter == Filter::applied ? timing.lag_s : 0.0);
  }
  std::vector<double> row(columns_);
  for (auto time = first; time < last; ++time) {
    const double at_s = *time - timing.shift_s;
    bool is_known = true;
    for (std::size_t i = 0; i < columns_ && is_known; ++i) {
      const auto power = powers[i].mean_w(at_s - timing.window_s, at_s);
      is_known = power.has_value();
      row[i] = power.value_or(0.0);
    }
    if (!is_known) continue;
    x_.insert(x_.end(), row.begin(), row.end());
    y_.push_back(meter.power_w[static_cast<std::size_t>(time - meter.time_s.begin())]);
    time_s_.push_back(at_s);
  }
  if (timing.lag_s > 0.0 && filter == Filter::undone) undo_filter(timing.lag_s, meter.spacing_s);
}

void AlignedRows::undo_filter(double lag_s, double spacing_s) {
  // Means over this keep the noise small.
  constexpr double kMeanOver = 0.4;  // seconds
  const std::size_t n = rows();
  std::vector<double> undone = y_;
  for (std::size_t k = 1; k < n; ++k) {
    const double part = -std::expm1(-(time_s_[k] - time_s_[k - 1]) / lag_s);
    undone[k] = y_[k - 1] + (y_[k] - y_[k - 1]) / part;
  }
  const auto over = static_cast<std::size_t>(std::max(1L, std::lround(kMeanOver / spacing_s)));
  AlignedRows means;
  means.columns_ = columns_;
  std::vector<double> sums(columns_, 0.0);
  double sum = 0.0;
  for (std::size_t k = 1; k < n; ++k) {
    const bool is_full = k > over;
    sum += undone[k] - (is_full ? undone[k - over] : 0.0);
    for (std::size_t i = 0; i < columns_; ++i) {
      sums[i] += x(k)[i] - (is_full ? x(k - over)[i] : 0.0);
    }
    if (k < over) continue;
    const auto count = static_cast<double>(over);
    means.y_.push_back(sum / count);
    means.time_s_.push_back(time_s_[k]);
    for (const double one : sums) means.x_.push_back(one / count);
  }
  *this = std::move(means);
}

AlignedRows AlignedRows::changes(std::size_t apart) const {
  AlignedRows changes;
  changes.columns_ = columns_;
  for (std::size_t k = apart; k < rows(); ++k) {
    for (std::size_t i = 0; i < columns_; ++i) {
      changes.x_.push_back(x(k)[i] - x(k - apart)[i]);
    }
    changes.y_.push_back(y_[k] - y_[k - apart]);
    changes.time_s_.push_back(time_s_[k]);
  }
  return changes;
}

NormalSums AlignedRows::sums() const {
  NormalSums sums(columns_);
  for (std::size_t k = 0; k < rows(); ++k) sums.add(x(k), y_[k]);
  return sums;
}

}  // namespace wattle
