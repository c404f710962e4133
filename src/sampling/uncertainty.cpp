#include "sampling/uncertainty.hpp"

#include <cmath>

namespace wattle {
namespace {

constexpr double kCoverageFactor = 2.0;

double square(double x) noexcept { return x * x; }

}  // namespace

Joules plain_counter_uncertainty(const CounterWindowFacts& window) noexcept {
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
  const double between =
      (square(window.begin_interpolation.si()) + square(window.end_interpolation.si())) / 4.0;
  return Joules(kCoverageFactor * std::sqrt(ends + outside + rounding + reads + between));
}

Joules aligned_counter_uncertainty(const AlignedWindowFacts& window) noexcept {
  const double latencies_s2 =
      square(Seconds(window.first_latency).count()) + square(Seconds(window.last_latency).count());
  const double updates = square(window.waiting.si()) * latencies_s2 / 12.0;
  const double waited = square((window.waiting_uncertainty * Seconds(window.waited)).si());
  const double rounding = square(window.tick.si()) / 6.0;
  return Joules(kCoverageFactor * std::sqrt(updates + waited + rounding));
}

Joules gauge_uncertainty(const GaugeWindowFacts& window) noexcept {
  const double spacing_s = Seconds(window.spacing).count();
  const double mean_of_s = Seconds(window.window).count();
  const double end_w2 = square(window.change_at_end.si());
  const double edges_w2 = square(window.change_at_begin.si()) + end_w2;

  const double unseen =
      square(spacing_s) * (1.0 - window.coverage) * window.squared_changes_w2 / 2.0;
  const double edges = edges_w2 * (square(spacing_s) / 3.0 + square(mean_of_s) / 64.0);
  const double delay = square(window.change_overall.si() * spacing_s) * 7.0 / 6.0;
  const double tail = end_w2 * square(Seconds(window.tail).count());
  const double rounding = square(window.length.count() * window.step.si()) / 12.0;
  return Joules(kCoverageFactor * std::sqrt(unseen + edges + delay + tail + rounding));
}

}  // namespace wattle
