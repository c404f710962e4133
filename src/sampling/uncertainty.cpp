#include "sampling/uncertainty.hpp"

#include <cmath>

namespace wattle {

Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept {
  const auto square = [](double x) { return x * x; };
  const double tau_s = Seconds(window.update.mean).count();
  const double spread_s = Seconds(window.update.spread).count();
  const double begin_w = window.power_after_begin.si();
  const double end_w = window.power_before_end.si();
  const double both_w2 = square(begin_w) + square(end_w);

  const double age_s = tau_s > 0.0 ? tau_s / 2.0 + square(spread_s) / (2.0 * tau_s) : 0.0;
  const double age_square_s2 = square(tau_s) / 3.0 + square(spread_s);
  constexpr double kUnseenVariance = 4.0 / 3.0;

  const double ages = both_w2 * (age_square_s2 - square(age_s));
  const double step = square((begin_w - end_w) * age_s);
  const double unseen = both_w2 * kUnseenVariance * age_square_s2;
  const double rounding = square(window.tick.si()) / 6.0;
  const double reads = (square(begin_w * Seconds(window.begin_half_width).count()) +
                        square(end_w * Seconds(window.end_half_width).count())) /
                       3.0;
  constexpr double kCoverageFactor = 2.0;
  return Joules(kCoverageFactor * std::sqrt(ages + step + unseen + rounding + reads));
}

}  // namespace wattle
