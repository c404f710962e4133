#include "sampling/gauges/gauge_spread.hpp"

#include <cmath>
#include <limits>

namespace wattle {

double unseen_part(double coverage) noexcept { return (1.0 - coverage) * (1.0 + coverage / 2.0); }

namespace {

/// The uncertainty of a lone change between two samples, as a part of `unseen_part`: it is anywhere
/// in the part 1 - c of the time that is not seen, which is off by the variance D^2 (1 - c)^2/12,
/// or in what is seen, where the halves to its sides are. Half the squared changes of means over c
/// of the time are D^2/2 (1 - c/3) for it. A little more, since some are not alone.
double of_single_changes(const GaugeSampling& sampling) noexcept {
  if (sampling.coverage >= 1.0) return 1.0;
  const double gap = 1.0 - sampling.coverage;
  // A lagging sensor shows a change for its whole delay, wherever the change was.
  if (sampling.lags) return std::min(0.35, 2.2 * gap);
  constexpr double kNotQuiteAlone = 1.15;
  return kNotQuiteAlone * gap * gap / (2.0 * (3.0 - sampling.coverage)) /
         unseen_part(sampling.coverage);
}

}  // namespace

void Innovations::add(double value, std::uint64_t samples) noexcept {
  if (samples_ == 0) first_ = value;
  const double shifted = value - first_;
  if (samples == 1) return add_sample(shifted, 1.0);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(samples, kMostLags); ++i)
    add_sample(shifted, 1.0);
  if (samples <= kMostLags) return;
  // From here on each is as all before it.
  const std::uint64_t same = samples - kMostLags;
  add_sample(shifted, static_cast<double>(same));
  samples_ += same - 1;
}

// It is done for each row of a table of any length.
void Innovations::add_sample(double value, double times) noexcept {
  if (samples_ < kMostLags) earliest_[samples_] = value;
  const double weighed = times * value;
  sum_ += weighed;
  products_[0] += weighed * value;
  for (std::size_t lag = 1; lag <= kMostLags; ++lag) products_[lag] += weighed * before_[lag - 1];
  before_ = {value, before_[0], before_[1]};
  ++samples_;
}

// All sums of a lag are the same but for their ends.
double Innovations::sum_of(std::size_t i, std::size_t lags) const noexcept {
  double sum = sum_;
  for (std::size_t t = 0; t + i < lags; ++t) sum -= earliest_[t];
  for (std::size_t back = 0; back < i; ++back) sum -= before_[back];
  return sum;
}

double Innovations::sum_of(std::size_t i, std::size_t j, std::size_t lags) const noexcept {
  const std::size_t lag = j - i;
  double sum = products_[lag];
  for (std::size_t t = lag; t + i < lags; ++t) sum -= earliest_[t] * earliest_[t - lag];
  for (std::size_t back = 0; back < i; ++back) sum -= before_[back] * before_[back + lag];
  return sum;
}

// Gaussian elimination of the normal equations: what is left of the last square is the rest's.
double Innovations::squares(std::size_t lags, double fewest_equations) const noexcept {
  const double equations = static_cast<double>(samples_) - static_cast<double>(lags);
  if (equations < fewest_equations) return std::numeric_limits<double>::infinity();
  // Sums of the products of 1, x(t - 1), x(t - 2), x(t - 3), x(t).
  std::array<std::array<double, kMostLags + 2>, kMostLags + 2> rest{};
  rest[0][0] = equations;
  rest[0][lags + 1] = sum_of(0, lags);
  rest[lags + 1][lags + 1] = sum_of(0, 0, lags);
  for (std::size_t i = 1; i <= lags; ++i) {
    rest[0][i] = sum_of(i, lags);
    rest[i][lags + 1] = sum_of(0, i, lags);
    for (std::size_t j = i; j <= lags; ++j) rest[i][j] = sum_of(i, j, lags);
  }
  const auto products = rest;
  constexpr double kNothingNew = 1e-12;
  for (std::size_t pivot = 0; pivot <= lags; ++pivot) {
    const double size = rest[pivot][pivot];
    if (size <= kNothingNew * products[pivot][pivot]) continue;
    for (std::size_t i = pivot + 1; i <= lags + 1; ++i) {
      const double part = rest[pivot][i] / size;
      for (std::size_t j = i; j <= lags + 1; ++j) rest[i][j] -= part * rest[pivot][j];
    }
  }
  // Akaike's final prediction error: that of values that were not fitted to.
  const double fitted = 1.0 + static_cast<double>(lags);
  const double more = (equations + fitted) / (equations - fitted);
  const double left = std::max(rest[lags + 1][lags + 1], 0.0);
  return left * more * static_cast<double>(samples_) / equations;
}

void Recurrence::add(double value, std::uint64_t samples) noexcept {
  if (is_refuted_) return;
  if (samples == 1) return add_sample(value);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(samples, kMostSamples); ++i) {
    add_sample(value);
  }
}

bool Recurrence::is_refuted() const noexcept {
  std::int64_t changed = changed_from_[1];
  for (std::size_t lag = 2; lag <= kMostSamples; ++lag) {
    changed += changed_from_[lag];
    const auto others = static_cast<double>(changed - came_back_after(lag));
    if (others <= (1.0 - kMostly) * static_cast<double>(most_samples_)) return false;
  }
  return true;
}

// It is done for each row of a table of any length, too: without branches, two lags at a time.
void Recurrence::add_sample(double value) noexcept {
  using Pair [[gnu::vector_size(2 * sizeof(double))]] = double;
  constexpr double kNothing = 0.02;  // squared, of the most that changed over fewer samples
  const double* const before = &twice_[newest_];
  double most = (value - before[0]) * (value - before[0]);
  if (std::isnan(most)) most = 0.0;
  for (std::size_t i = 1; i < kMostSamples; i += 2) {
    const Pair change = value - Pair{before[i], before[i + 1]};
    const Pair square = change * change;
    const double most_with_first = std::max(most, square[0]);
    came_back_[i / 2] -= square < kNothing * Pair{most, most_with_first};  // -1: true
    most = std::max(most_with_first, square[1]);
  }
  std::size_t unchanged = 0;
  while (unchanged < kMostSamples && value == before[unchanged]) ++unchanged;
  const std::size_t lags = std::min<std::uint64_t>(changing_, kMostSamples);
  ++changed_from_[unchanged + 1];
  --changed_from_[lags + 1];
  newest_ = newest_ == 0 ? kMostSamples - 1 : newest_ - 1;
  twice_[newest_] = twice_[newest_ + kMostSamples] = value;
  constexpr std::uint64_t kOften = 64;
  if (++changing_ % kOften == 0) is_refuted_ = is_refuted();
}

std::uint64_t Recurrence::samples() const noexcept {
  constexpr std::uint64_t kTimes = 3;
  std::int64_t samples = changed_from_[1];
  for (std::size_t lag = 2; lag <= kMostSamples && changing_ >= kTimes * lag; ++lag) {
    samples += changed_from_[lag];
    const auto changed = static_cast<double>(samples);
    if (changed > 0.0 && static_cast<double>(came_back_after(lag)) >= kMostly * changed) return lag;
  }
  return 0;
}

void GaugeSpread::add(const StoredReading& reading, double watts) noexcept {
  if (is_first_) first_ = last_ = highest_ = lowest_ = watts;
  is_first_ = false;
  squared_changes_w2_ += (watts - last_) * (watts - last_);
  change_before_last_ = last_change_;
  last_change_ = std::abs(watts - last_);
  last_ = watts;
  highest_ = std::max(highest_, watts);
  lowest_ = std::min(lowest_, watts);
  fall_ = std::max(fall_, Watts(highest_ - watts));
  // A value that the sensor shows for n samples is read for a period less than that, on average.
  // One that is read twice a sample, and a third time where the sensor is a little late, is one
  // sample.
  const auto read_for = reading.last_confirmed - reading.first_seen + period_ - spacing_ * 9 / 16;
  const std::int64_t held = read_for < spacing_ ? 0 : read_for / spacing_;
  // The sample at the end of a window comes before the value is due to be renewed: it proves
  // nothing.
  const bool is_steady = reading.last_confirmed - reading.first_seen > spacing_ - spacing_ / 16;
  if (is_steady) last_change_ = 0.0;
  const bool is_regular = samples_ == 0 || reading.first_seen - last_sample_ > period_ / 2;
  const auto samples = static_cast<std::uint64_t>(held) + 1;
  if (is_regular) {
    samples_ += samples;
    const double above_first = watts - first_;
    sum_w_ += static_cast<double>(samples) * above_first;
    squares_w2_ += static_cast<double>(samples) * above_first * above_first;
    if (is_whole_ || samples_left_out_ > 0.0) recurrence_.add(watts, samples);
    add_changes_over_two(watts);
    if (samples > 1) add_changes_over_two(watts);
  }
  if (is_regular && is_whole_) innovations_.add(watts, samples);
  const auto confirmed = reading.last_confirmed - reading.first_seen;
  if (watts < highest_) longest_hold_ = std::max(longest_hold_, confirmed);
  last_sample_ = reading.last_confirmed;
  if (reading.first_seen <= begin_until_) begin_range_.add(watts);
  if (reading.last_confirmed >= end_from_) end_range_.add(watts);
}

void GaugeSpread::add_changes_over_two(double watts) noexcept {
  if (samples_before_ > 0) over_one_w2_ += (watts - before_[0]) * (watts - before_[0]);
  if (samples_before_ > 1) over_two_w2_ += (watts - before_[1]) * (watts - before_[1]);
  before_ = {watts, before_[0]};
  ++samples_before_;
}

void GaugeSpread::leave_out(double squared_changes_w2, double watts,
                            std::chrono::nanoseconds time) noexcept {
  squared_changes_w2_ += squared_changes_w2;
  samples_left_out_ += Seconds(time) / Seconds(spacing_);
  recurrence_ = Recurrence();
  samples_before_ = 0;
  last_ = watts;
}

double GaugeSpread::scatter_w2(const GaugeSampling& sampling) const noexcept {
  const double of_neighbours_w2 = squared_changes_w2_ / 2.0;
  const double alone = of_single_changes(sampling);
  // A lagging sensor is never that blind.
  constexpr double kMostIfLagging = 3.0;
  const double most = sampling.lags ? std::min(1.0, kMostIfLagging * alone) : 1.0;
  const double unsteady = std::min(unsteadiness(alone), most);
  if (const std::uint64_t period = recurrence_.samples()) {
    const double changing = static_cast<double>(recurrence_.changing()) + samples_left_out_;
    constexpr double kAsMuch = 1.2;  // bench/lab: 95 % of such loads
    const double again = kAsMuch * alone * changing / static_cast<double>(period);
    return of_neighbours_w2 * std::max(unsteady, again);
  }
  if (samples_left_out_ > 0.0) return of_neighbours_w2 * unsteady;
  const double unforeseen = unforeseen_w2();
  // Predicting a sample from two others makes up to six times as much of what differs in time, and
  // few samples are fitted to that as well.
  constexpr double kPredicted = 8.4;
  constexpr double kLeast = 0.05;
  const double of_jitter_w2 =
      kPredicted * squared_changes_w2_ * sampling.jitter * sampling.jitter / 12.0;
  return std::min(of_neighbours_w2 * unsteady,
                  std::max(unforeseen - of_jitter_w2, kLeast * unforeseen));
}

double GaugeSpread::unforeseen_w2() const noexcept {
  constexpr double kFew = 6.0;
  constexpr double kPlenty = 20.0;  // where the third lag is worth while
  return std::min(innovations_.squares(2, kFew), innovations_.squares(3, kPlenty));
}

double GaugeSpread::unsteadiness(double alone) const noexcept {
  if (over_one_w2_ <= 0.0) return 1.0;
  // Few samples show that only roughly.
  constexpr double kRoughly = 3.5;
  const double samples = static_cast<double>(std::max<std::uint64_t>(samples_, 1));
  const double together =
      std::clamp(2.0 - over_two_w2_ / over_one_w2_ + kRoughly / std::sqrt(samples), 0.0, 1.0);
  return alone + (1.0 - alone) * std::pow(together, 4.0);
}

Watts GaugeSpread::change_since(double just_begun) const noexcept {
  const double samples =
      samples_left_out_ + static_cast<double>(std::max<std::uint64_t>(samples_, 1));
  constexpr double kNothing = 0.1;  // of the last change: power is never quite steady
  const bool began = change_before_last_ <= kNothing * last_change_;
  const double growth = std::max(last_change_ - change_before_last_, 0.0);
  constexpr double kOfRange = 1.0;  // a change that just started may become as large as another was
  const double begun = last_change_ > 0.0 ? kOfRange * (highest_ - lowest_) : 0.0;
  const double trend = began ? std::max(just_begun * last_change_, begun) : last_change_ + growth;
  return Watts(std::max(trend, std::sqrt(squared_changes_w2_ / samples)));
}

double GaugeSpread::variance_w2() const noexcept {
  const double samples = static_cast<double>(std::max<std::uint64_t>(samples_, 1));
  const double mean_w = sum_w_ / samples;
  const double seen_w2 = std::max(squares_w2_ / samples - mean_w * mean_w, 0.0);
  return std::max(seen_w2, squared_changes_w2_ / 2.0 / (samples + samples_left_out_));
}

double GaugeSpread::bends_w2() const noexcept {
  const double bends_w2 = std::max(4.0 * over_one_w2_ - over_two_w2_, 0.0);
  return samples_left_out_ > 0.0 ? bends_w2 : std::min(bends_w2, 2.0 * unforeseen_w2());
}

Watts GaugeSpread::fall() const noexcept {
  constexpr double kNothing = 0.05;
  const Watts range(highest_ - lowest_);
  return fall_ < kNothing * range ? Watts() : range;
}

}  // namespace wattle
