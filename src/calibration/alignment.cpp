#include "calibration/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "base/numbers/median.hpp"
#include "base/numbers/moments.hpp"
#include "base/numbers/student.hpp"
#include "calibration/robust_fit.hpp"

namespace wattle {

std::size_t change_rows(const MeterRows& meter) noexcept {
  constexpr double kApart = 1.5;  // seconds
  return std::max<std::size_t>(2, static_cast<std::size_t>(std::ceil(kApart / meter.spacing_s)));
}

namespace {

using DomainSpan = std::span<const RecordedDomainPower>;

/// The least error of a meter's values: 0.2 %, and `part` of how much they vary.
double noise_of(const std::vector<double>& powers, double part) {
  constexpr double kOfMean = 0.002;
  Moments moments;
  for (const double power : powers) moments.add(power);
  const double variance =
      powers.empty() ? 0.0 : moments.squares / static_cast<double>(powers.size());
  return std::max({kOfMean * std::abs(moments.mean), part * std::sqrt(variance), 1e-9});
}

/// With another window or lag, where the middle of what the meter sees stays, but for `more_s`.
MeterTiming moved(const MeterTiming& from, double window_s, double lag_s, double more_s) noexcept {
  const double middle_s = from.shift_s + from.window_s / 2.0 + from.lag_s;
  return {
      .shift_s = middle_s - window_s / 2.0 - lag_s + more_s, .window_s = window_s, .lag_s = lag_s};
}

/// One alignment in search of a better one. Threads: one at a time.
class AlignmentSearch {
 public:
  AlignmentSearch(std::vector<MeterSample> meter, DomainSpan domains);

  /// Empty, or why no shift is the one.
  std::string find_shift(const ShiftRange& range);
  void refine_timing();
  [[nodiscard]] MeterAlignment result() const;
  [[nodiscard]] const MeterRows& rows() const noexcept { return meter_; }

 private:
  struct Scored {
    double shift_s = 0.0;
    double left = 1.0;  ///< see `RobustFit`
  };

  [[nodiscard]] std::vector<Scored> scan(const ShiftRange& range) const;
  [[nodiscard]] static std::string why_not_unique(const std::vector<Scored>& tried,
                                                  double best_shift_s);
  [[nodiscard]] std::size_t least_rows(const MeterRows& rows) const noexcept {
    const double possible =
        std::min(length_s_ / rows.spacing_s, static_cast<double>(rows.time_s.size()));
    return std::max<std::size_t>(10, static_cast<std::size_t>(possible / 2.0));
  }
  [[nodiscard]] double score(const MeterRows& meter, const MeterTiming& timing,
                             double noise_w) const {
    const AlignedRows rows(meter, domains_, timing, AlignedRows::Filter::undone);
    if (rows.rows() < least_rows(meter)) return std::numeric_limits<double>::infinity();
    const auto gains = gains_.empty() ? first_gains(rows) : gains_;
    return robust_fit(rows.changes(change_rows(meter)), gains, noise_w).left;
  }
  void refine_from(const MeterTiming& first, std::span<const double> lags,
                   std::span<const double> windows);
  void improve_timing(double step_s, double part);
  /// The score without the sensor that fits worst, where that is better.
  [[nodiscard]] double score_of_most(const MeterTiming& timing) const;
  void try_timing(const MeterTiming& timing);
  /// The same timing with another shift, nearby and better.
  [[nodiscard]] MeterTiming near(MeterTiming timing, double reach_s) const;

  MeterRows meter_;
  MeterRows coarse_;  ///< for the first scan
  DomainSpan domains_;
  std::vector<double> gains_;  ///< to start fits from; empty: unknown yet
  double noise_w_ = 1.0;       ///< of the meter
  double coarse_noise_w_ = 1.0;
  MeterTiming timing_;
  double best_ = std::numeric_limits<double>::infinity();
  double step_s_ = 0.0;
  double length_s_ = 0.0;
};

AlignmentSearch::AlignmentSearch(std::vector<MeterSample> meter, DomainSpan domains)
    : domains_(domains) {
  constexpr double kCoarse = 0.4;  // seconds
  constexpr double kCoarseRows = 400.0;
  double begin_s = domains.front().power.begin_s();
  double end_s = domains.front().power.end_s();
  for (const RecordedDomainPower& domain : domains) {
    begin_s = std::max(begin_s, domain.power.begin_s());
    end_s = std::min(end_s, domain.power.end_s());
    step_s_ = std::max(step_s_, domain.power.step_s());
  }
  length_s_ = end_s - begin_s;
  meter_ = rows_of(meter, step_s_, length_s_);
  coarse_ =
      rows_of(std::move(meter), std::max({step_s_, kCoarse, length_s_ / kCoarseRows}), length_s_);
  timing_.window_s = meter_.spacing_s;
  noise_w_ = noise_of(meter_.power_w, 0.01);
  // Between two shifts of the scan all steps are in part at the wrong time.
  coarse_noise_w_ = noise_of(coarse_.power_w, 0.1);
}

std::vector<AlignmentSearch::Scored> AlignmentSearch::scan(const ShiftRange& range) const {
  constexpr double kMostShifts = 20'000.0;
  const double step_s =
      std::max(coarse_.spacing_s / 2.0, (range.most_s - range.least_s) / kMostShifts);
  std::vector<Scored> tried;
  MeterTiming timing{.window_s = coarse_.spacing_s};
  const auto shifts = static_cast<std::size_t>((range.most_s - range.least_s) / step_s);
  for (std::size_t i = 0; i <= shifts; ++i) {
    timing.shift_s = range.least_s + step_s * static_cast<double>(i);
    const double left = score(coarse_, timing, coarse_noise_w_);
    if (std::isfinite(left)) tried.push_back({.shift_s = timing.shift_s, .left = left});
  }
  return tried;
}

std::string AlignmentSearch::why_not_unique(const std::vector<Scored>& tried, double best_shift_s) {
  std::vector<double> lefts(tried.size());
  std::ranges::transform(tried, lefts.begin(), &Scored::left);
  const double usual = upper_median(lefts);
  const auto best = std::ranges::min_element(
      tried, {}, [&](const Scored& one) { return std::abs(one.shift_s - best_shift_s); });
  if (tried.size() > 20 && best->left > 0.85 * usual) {
    return "at no shift of its clock does the meter follow the run";
  }
  // Beyond the slopes of the best one, no other may be nearly as good.
  const double limit = best->left + 0.1 * (usual - best->left);
  const double slope_end = best->left + 0.6 * (usual - best->left);
  auto left = best;
  while (left != tried.begin() && left->left < slope_end) --left;
  auto right = best;
  while (right + 1 != tried.end() && right->left < slope_end) ++right;
  for (auto one = tried.begin(); one != tried.end(); ++one) {
    if ((one < left || one > right) && one->left < limit) {
      return fmt::format("two shifts of the meter's clock fit equally well: {:.1f} s and {:.1f} s",
                         best->shift_s, one->shift_s);
    }
  }
  return {};
}

MeterTiming AlignmentSearch::near(MeterTiming timing, double reach_s) const {
  MeterTiming best = timing;
  double least = score(meter_, timing, noise_w_);
  const double middle_s = timing.shift_s;
  constexpr int kSteps = 20;
  for (int step = -kSteps; step <= kSteps; ++step) {
    timing.shift_s = middle_s + reach_s * step / kSteps;
    const double left = score(meter_, timing, noise_w_);
    if (left < least) best = timing;
    least = std::min(least, left);
  }
  return best;
}

std::string AlignmentSearch::find_shift(const ShiftRange& range) {
  const std::vector<Scored> tried = scan(range);
  if (tried.empty()) return "the meter's rows do not cover half of the run";
  const auto best = std::ranges::min_element(tried, {}, &Scored::left);
  MeterTiming timing = timing_;
  timing.shift_s = best->shift_s;
  timing_ = near(timing, coarse_.spacing_s);
  best_ = score(meter_, timing_, noise_w_);
  gains_ = first_gains(AlignedRows(meter_, domains_, timing_));
  return why_not_unique(tried, best->shift_s);
}

double AlignmentSearch::score_of_most(const MeterTiming& timing) const {
  const AlignedRows rows(meter_, domains_, timing, AlignedRows::Filter::undone);
  if (rows.rows() < least_rows(meter_)) return std::numeric_limits<double>::infinity();
  return robust_fit_of_most(rows.changes(change_rows(meter_)), gains_, noise_w_).left;
}

void AlignmentSearch::try_timing(const MeterTiming& timing) {
  const double left = score_of_most(timing);
  if (left >= best_) return;
  best_ = left;
  timing_ = timing;
}

void AlignmentSearch::refine_timing() {
  const MeterTiming first = timing_;
  // A wide window and a filter are alike at first sight: both are followed to their end.
  constexpr std::array kNoLag = {0.0};
  constexpr std::array kLags = {0.2, 0.4, 0.8, 1.5, 3.0, 6.0, 10.0};
  constexpr std::array kWindows = {0.0, 1.0, 3.0};
  refine_from(first, kNoLag, kWindows);
  const MeterTiming by_window = timing_;
  const double left_by_window = best_;
  timing_ = first;
  refine_from(first, kLags, std::span(kWindows).first(2));
  if (best_ <= left_by_window) return;
  timing_ = by_window;
  best_ = left_by_window;
}

void AlignmentSearch::refine_from(const MeterTiming& first, std::span<const double> lags,
                                  std::span<const double> windows) {
  // With much noise allowed, what is nearly right already counts.
  const double base_s = std::max(meter_.spacing_s, step_s_);
  const double noise_w = std::exchange(noise_w_, coarse_noise_w_ / 2.0);
  best_ = score_of_most(timing_);
  for (const double lag_s : lags) {
    if (lag_s > length_s_ / 15.0 || (lag_s > 0.0 && lag_s < base_s / 3.0)) continue;
    for (const double window : windows) {
      for (const double more : {-1.0, -0.66, -0.33, 0.0, 0.33, 0.66, 1.0}) {
        const double more_s = more * std::max(base_s, lag_s / 2.0);
        try_timing(moved(first, window * meter_.spacing_s, lag_s, more_s));
      }
    }
  }
  noise_w_ = noise_w;
  best_ = score_of_most(timing_);
  constexpr int kHalvings = 6;
  double part = 0.5;
  for (int i = 0; i < kHalvings; ++i, part /= 2.0) improve_timing(part * base_s, part);
}

void AlignmentSearch::improve_timing(double step_s, double part) {
  // Hooke and Jeeves: each number in turn.
  for (const double sign : {-1.0, 1.0}) {
    const MeterTiming now = timing_;
    try_timing(moved(now, now.window_s, now.lag_s, sign * step_s));
    const double window_s = now.window_s + sign * step_s;
    if (window_s >= 0.0) try_timing(moved(now, window_s, now.lag_s, 0.0));
    const double lag_s = now.lag_s + sign * std::max(step_s, now.lag_s * part);
    if (now.lag_s <= 0.0 || lag_s <= 0.0) continue;
    try_timing(moved(now, now.window_s, lag_s, 0.0));
    try_timing(moved(now, now.window_s, lag_s, lag_s - now.lag_s));
  }
}

/// `move_s`: a small change of a lag.
std::vector<double> lag_uncertainties(const MeterRows& meter,
                                      std::span<const RecordedDomainPower> domains,
                                      const MeterTiming& timing, double move_s) {
  // The change of a domain's power with its lag is a column of its own, whose factor is what the
  // lag lacks.
  constexpr std::size_t kMostBlocks = 10;
  const std::size_t n = domains.size();
  std::vector<RecordedDomainPower> all_three(domains.begin(), domains.end());
  for (const double more_s : {-move_s, move_s}) {
    for (const RecordedDomainPower& domain : domains) {
      all_three.push_back({.name = {}, .power = domain.power.earlier(more_s)});
    }
  }
  const AlignedRows rows(meter, all_three, timing);
  const std::size_t blocks = std::clamp<std::size_t>(rows.rows() / (3 * n + 3), 2, kMostBlocks);
  std::vector<NormalSums> sums(blocks, NormalSums(2 * n));
  NormalSums all(2 * n);
  std::vector<double> row(2 * n);
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      row[i] = rows.x(k)[i];
      row[n + i] = (rows.x(k)[2 * n + i] - rows.x(k)[n + i]) / (2.0 * move_s);
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
  std::ranges::transform(without, uncertainties.begin(), [&](const auto& values) {
    const double error_s =
        jackknife_error(values) * student_critical(static_cast<double>(blocks - 1));
    return std::hypot(error_s, move_s / 8.0);
  });
  return uncertainties;
}

MeterAlignment AlignmentSearch::result() const {
  MeterAlignment result;
  result.timing = timing_;
  result.rows = meter_;
  const AlignedRows sharp_rows(meter_, domains_, timing_, AlignedRows::Filter::undone);
  const RobustFit fit_of_most =
      robust_fit_of_most(sharp_rows.changes(change_rows(meter_)), gains_, noise_w_);
  result.gains = fit_of_most.gains;
  if (fit_of_most.without) {
    std::vector<double> others = fit_of_most.gains;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*fit_of_most.without));
    result.gains[*fit_of_most.without] = std::clamp(upper_median(others), 1.0, 1.4);
  }
  const double move_s = std::max(step_s_, meter_.spacing_s / 4.0);
  result.lag_uncertainties_s = lag_uncertainties(meter_, domains_, timing_, move_s);
  return result;
}

}  // namespace

MeterAlignment aligned(std::vector<MeterSample> meter, std::span<const RecordedDomainPower> domains,
                       const ShiftRange& range) {
  AlignmentSearch search(std::move(meter), domains);
  MeterAlignment none;
  constexpr std::size_t kLeastRows = 20;
  if (search.rows().time_s.size() < kLeastRows) {
    none.problem =
        fmt::format("the meter has {} rows beside the run, and {} are the least; run longer",
                    search.rows().time_s.size(), kLeastRows);
    return none;
  }
  none.problem = search.find_shift(range);
  if (!none.problem.empty()) return none;
  search.refine_timing();
  return search.result();
}

}  // namespace wattle
