#include "sampling/uncertainty.hpp"

#include <cmath>

namespace wattle {

Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept {
  const auto square = [](double x) { return x * x; };
  const double tau_s = Seconds(window.update.mean).count();
  const double spread_s = Seconds(window.update.spread).count();
  const double begin_w2 = square(window.power_after_begin.si());
  const double end_w2 = square(window.power_before_end.si());
  const double mean_w2 =
      window.length.count() > 0 ? square((window.energy / window.length).si()) : 0.0;

  const double ends = (begin_w2 + end_w2) * (square(tau_s) / 12.0 + square(spread_s) / 2.0);
  const double outside = mean_w2 * square(tau_s) / 16.0;
  const double rounding = square(window.tick.si()) / 6.0;
  const double reads = (begin_w2 * square(Seconds(window.begin_half_width).count()) +
                        end_w2 * square(Seconds(window.end_half_width).count())) /
                       3.0;
  constexpr double kCoverageFactor = 2.0;
  return Joules(kCoverageFactor * std::sqrt(ends + outside + rounding + reads));
}

}  // namespace wattle
