#include "usage/gpu/running_gauge_window.hpp"

#include <algorithm>

namespace wattle {

void RunningGaugeWindow::advance(const History& gauge, TimePoint began) noexcept {
  constexpr std::chrono::seconds kEvery(60);
  // The end of the command lies in what is newer.
  constexpr std::chrono::seconds kNewest(30);
  const TimePoint from = summed_until_.value_or(began);
  const std::optional<TimePoint> newest = gauge.values().newest();
  if (!newest || *newest - from < kEvery) return;
  summed_until_ = *newest - kNewest;
  sum_ += gauge.gauge_window(from, *summed_until_);
}

GaugeWindow RunningGaugeWindow::until(const History& gauge, TimePoint began,
                                      TimePoint ended) const noexcept {
  const TimePoint from = summed_until_.value_or(began);
  GaugeWindow window = gauge.gauge_window(from, std::max(from, ended));
  return window += sum_;
}

}  // namespace wattle
