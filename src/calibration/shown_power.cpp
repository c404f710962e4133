#include "calibration/shown_power.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/numbers/value_range.hpp"

namespace wattle {

void ShownPower::restrict(KnownRows& rows) const {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (std::isnan(power_w[k])) rows[k] = false;
  }
}

ShownPower shown_power(const MeterRows& meter, const PowerCurve& power, const MeterTiming& timing,
                       double late_s) {
  const FilteredPower filtered(power, timing.lag_s);
  const double reach_s = std::max(0.02, power.step_s() / 2.0);
  const std::size_t n = meter.time_s.size();
  ShownPower shown{.power_w = std::vector<double>(n, std::numeric_limits<double>::quiet_NaN()),
                   .rate_w = std::vector<double>(n, 0.0)};
  for (std::size_t k = 0; k < n; ++k) {
    const double to_s = meter.time_s[k] - timing.shift_s + late_s;
    if (to_s < power.begin_s() || to_s > power.end_s()) continue;
    const auto mean_w = [&](double at_s) { return filtered.mean_w(at_s - timing.window_s, at_s); };
    const auto now_w = mean_w(to_s);
    if (!now_w) continue;
    shown.power_w[k] = *now_w;
    const double change_w =
        mean_w(to_s + reach_s).value_or(*now_w) - mean_w(to_s - reach_s).value_or(*now_w);
    shown.rate_w[k] = change_w / (2.0 * reach_s);
  }
  return shown;
}

std::vector<SensorStep> clear_steps(const PowerCurve& power) {
  constexpr std::size_t kMost = 40;
  constexpr double kBeside = 0.4;  // seconds
  constexpr double kOfRange = 0.06;
  const double beside_s = std::max(kBeside, 2.0 * power.step_s());
  std::vector<SensorStep> all;
  ValueRange range;
  for (const PowerStep& step : power.steps()) {
    range.add(step.power_w);
    const auto before_w = power.mean_w(step.begin_s - beside_s, step.begin_s);
    const auto after_w = power.mean_w(step.begin_s, step.begin_s + beside_s);
    if (before_w && after_w) all.push_back({step.begin_s, *after_w - *before_w});
  }
  std::ranges::sort(all, std::greater<>(),
                    [](const SensorStep& step) { return std::abs(step.size_w); });
  std::vector<SensorStep> chosen;
  for (const SensorStep& step : all) {
    if (chosen.size() >= kMost || std::abs(step.size_w) < kOfRange * range.width()) break;
    const bool is_near = std::ranges::any_of(chosen, [&](const SensorStep& other) {
      return std::abs(other.time_s - step.time_s) < 1.5 * beside_s;
    });
    if (!is_near) chosen.push_back(step);
  }
  return chosen;
}

std::vector<double> shown_step(const MeterRows& meter, double at_s, const MeterTiming& timing) {
  constexpr double kLeastWindow = 1e-3;
  const double window_s = std::max(timing.window_s, kLeastWindow);
  const auto integral = [&](double passed_s) {
    if (passed_s <= 0.0) return 0.0;
    return timing.lag_s > 0.0 ? passed_s + timing.lag_s * std::expm1(-passed_s / timing.lag_s)
                              : passed_s;
  };
  std::vector<double> shown(meter.time_s.size());
  std::ranges::transform(meter.time_s, shown.begin(), [&](double time_s) {
    const double passed_s = time_s - timing.shift_s - at_s;
    return (integral(passed_s) - integral(passed_s - window_s)) / window_s;
  });
  return shown;
}

}  // namespace wattle
