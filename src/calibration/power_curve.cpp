#include "calibration/power_curve.hpp"

#include <algorithm>
#include <cstddef>

#include "base/numbers/median.hpp"

namespace wattle {

PowerCurve::PowerCurve(std::vector<PowerStep> steps) {
  std::ranges::stable_sort(steps, {}, &PowerStep::end_s);
  std::vector<double> lengths;
  CurveSums sums;
  for (PowerStep step : steps) {
    if (!steps_.empty()) step.begin_s = std::max(step.begin_s, steps_.back().end_s);
    if (!(step.end_s > step.begin_s)) continue;
    steps_.push_back(step);
    before_.push_back(sums);
    const double length = step.end_s - step.begin_s;
    sums.energy_j += step.power_w * length;
    sums.known_s += length;
    lengths.push_back(length);
  }
  if (!lengths.empty()) step_s_ = upper_median(lengths);
}

double PowerCurve::energy_j() const noexcept {
  return empty() ? 0.0 : sums_until(end_s()).energy_j;
}

double PowerCurve::known_s() const noexcept { return empty() ? 0.0 : sums_until(end_s()).known_s; }

std::size_t PowerCurve::steps_begun(double time_s) const noexcept {
  // Most steps are equally long, so that the place is near to where this says.
  constexpr int kNear = 8;
  const double guess = (time_s - steps_.front().begin_s) / step_s_ + 1.0;
  auto at = static_cast<std::size_t>(std::clamp(guess, 0.0, static_cast<double>(steps_.size())));
  for (int moved = 0; moved < kNear; ++moved) {
    if (at > 0 && steps_[at - 1].begin_s > time_s) {
      --at;
    } else if (at < steps_.size() && steps_[at].begin_s <= time_s) {
      ++at;
    } else {
      return at;
    }
  }
  const auto after = std::ranges::upper_bound(steps_, time_s, {}, &PowerStep::begin_s);
  return static_cast<std::size_t>(after - steps_.begin());
}

PowerCurve::CurveSums PowerCurve::sums_until(double time_s) const noexcept {
  const std::size_t begun = steps_begun(time_s);
  if (begun == 0) return {};
  const std::size_t at = begun - 1;
  const PowerStep& step = steps_[at];
  const double length = std::min(time_s, step.end_s) - step.begin_s;
  return {.energy_j = before_[at].energy_j + step.power_w * length,
          .known_s = before_[at].known_s + length};
}

std::optional<double> PowerCurve::mean_w(double from_s, double to_s) const noexcept {
  constexpr double kMostUnknown = 0.02;
  // Differences of sums over days lose their digits where the time between is very short.
  constexpr double kMoment = 1e-5;
  if (empty()) return std::nullopt;
  if (to_s - from_s < kMoment) {
    const std::size_t begun = steps_begun(to_s);
    if (begun == 0 || steps_[begun - 1].end_s < from_s) return std::nullopt;
    return steps_[begun - 1].power_w;
  }
  const CurveSums from = sums_until(from_s);
  const CurveSums to = sums_until(to_s);
  const double known_s = to.known_s - from.known_s;
  if (known_s < (to_s - from_s) * (1.0 - kMostUnknown)) return std::nullopt;
  return (to.energy_j - from.energy_j) / known_s;
}

}  // namespace wattle
