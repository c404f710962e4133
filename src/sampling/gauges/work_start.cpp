#include "sampling/gauges/work_start.hpp"

#include <algorithm>

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// How a gauge shows a step, in seconds.
struct StepShown {
  double update_s;
  double width_s;

  /// After this time a reading shows all of it.
  [[nodiscard]] double whole_s() const noexcept { return update_s + width_s; }
  /// The mean part of it that a reading shows which is made this long after the step.
  [[nodiscard]] double part(double after_s) const noexcept {
    return (covered_s(after_s) - covered_s(after_s - update_s)) / update_s;
  }

 private:
  /// The integral of the part that an update shows, up to one this long after the step.
  [[nodiscard]] double covered_s(double after_s) const noexcept {
    if (after_s <= 0.0) return 0.0;
    if (after_s >= width_s) return after_s - width_s / 2.0;
    return after_s * after_s / (2.0 * width_s);
  }
};

}  // namespace

Joules lacking_of_work(const History& history, const GaugeKernel& kernel, TimePoint begin,
                       TimePoint end, nanoseconds lag) noexcept {
  if (kernel.lags || kernel.width <= nanoseconds(0)) return {};
  const auto [before, next] = history.values().at(begin);
  if (!before || !next || before->last_confirmed + history.hold() < begin) return {};
  const StepShown shown = {.update_s = Seconds(history.update()).count(),
                           .width_s = Seconds(kernel.width).count()};
  const double period_s = std::max(Seconds(history.period()).count(), 1e-3);
  const double lag_s = Seconds(lag).count();
  // The next value may have been read after others that were alike.
  const TimePoint read_at =
      before->last_confirmed > begin
          ? std::min({before->last_confirmed, begin + history.period(), next->first_seen})
          : next->first_seen;
  double read_s = Seconds(read_at - begin).count();
  double lacking_s = std::max(read_s - lag_s, 0.0);
  while (read_s < shown.whole_s()) {
    const double next_s = read_s + period_s;
    const double held_s = std::max(next_s - std::max(read_s, lag_s), 0.0);
    lacking_s += held_s * (1.0 - shown.part(read_s));
    read_s = next_s;
  }
  const TimePoint whole = begin + std::chrono::duration_cast<nanoseconds>(Seconds(read_s));
  const auto after = history.values().at(whole).before;
  if (!after || whole > end) return {};
  const double rise = static_cast<double>(after->raw) - static_cast<double>(before->raw);
  return Joules(history.channel().scale() * rise * lacking_s);
}

}  // namespace wattle
