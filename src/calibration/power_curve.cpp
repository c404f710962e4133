#include "calibration/power_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

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

PowerCurve PowerCurve::earlier(double by_s) const {
  std::vector<PowerStep> steps = steps_;
  for (PowerStep& step : steps) {
    step.begin_s -= by_s;
    step.end_s -= by_s;
  }
  return PowerCurve(std::move(steps));
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

FilteredPower::FilteredPower(const PowerCurve& power, double lag_s)
    : power_(&power), lag_s_(lag_s) {
  if (lag_s <= 0.0 || power.empty()) return;
  starts_w_.reserve(power.steps().size());
  double now_w = power.steps().front().power_w;
  for (const PowerStep& step : power.steps()) {
    starts_w_.push_back(now_w);
    now_w -= (step.power_w - now_w) * std::expm1(-(step.end_s - step.begin_s) / lag_s);
  }
}

double FilteredPower::at(double time_s) const noexcept {
  const std::size_t begun = power_->steps_begun(time_s);
  if (begun == 0) return power_->steps().front().power_w;
  const PowerStep& step = power_->steps()[begun - 1];
  const double start_w = starts_w_[begun - 1];
  const double after_s = std::min(time_s, step.end_s) - step.begin_s;
  return start_w - (step.power_w - start_w) * std::expm1(-after_s / lag_s_);
}

std::optional<double> FilteredPower::mean_w(double from_s, double to_s) const noexcept {
  // Power further back has no more than 5 % of the weight.
  constexpr double kMemory = 3.0;
  constexpr double kMoment = 1e-5;
  const auto plain_w = power_->mean_w(from_s, to_s);
  if (lag_s_ <= 0.0 || !plain_w) return plain_w;
  if (!power_->mean_w(from_s - kMemory * lag_s_, to_s)) return std::nullopt;
  if (to_s - from_s < kMoment) return at(to_s);
  // Its rate of change times the time constant is what the filtered power lacks.
  return *plain_w - lag_s_ * (at(to_s) - at(from_s)) / (to_s - from_s);
}

}  // namespace wattle
