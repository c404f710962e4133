#include "usage/running_window.hpp"

#include <algorithm>

namespace wattle {
namespace {

GaugeWindow operator+(const GaugeWindow& a, const GaugeWindow& b) noexcept {
  return {.raw_ns = a.raw_ns + b.raw_ns, .known = a.known + b.known};
}

}  // namespace

void RunningWindow::advance(const History& gauge, TimePoint began) noexcept {
  constexpr std::chrono::seconds kEvery(60);
  // The end of the command lies in what is newer.
  constexpr std::chrono::seconds kNewest(30);
  const TimePoint from = summed_until_.value_or(began);
  const std::optional<TimePoint> newest = gauge.values().newest();
  if (!newest || *newest - from < kEvery) return;
  summed_until_ = *newest - kNewest;
  sum_ = sum_ + gauge.gauge_window(from, *summed_until_);
}

GaugeWindow RunningWindow::until(const History& gauge, TimePoint began,
                                 TimePoint ended) const noexcept {
  const TimePoint from = summed_until_.value_or(began);
  return sum_ + gauge.gauge_window(from, std::max(from, ended));
}

}  // namespace wattle
