#include "base/anchor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// The sum, or the end of the range that lies beyond.
nanoseconds saturating_sum(nanoseconds a, nanoseconds b) noexcept {
  constexpr nanoseconds kZero{0};
  if (b > kZero && a > nanoseconds::max() - b) return nanoseconds::max();
  if (b < kZero && a < nanoseconds::min() - b) return nanoseconds::min();
  return a + b;
}

/// The steady time at which the wall clock showed `wall`, had `anchor` always held.
TimePoint steady_time(nanoseconds wall, const Anchor& anchor) noexcept {
  return TimePoint(saturating_sum(wall, -anchor.unix_minus_steady));
}

}  // namespace

void AnchorHistory::observe(const Anchor& now) noexcept {
  if (count_ > 0) {
    const nanoseconds change = now.unix_minus_steady - anchors_.at(count_ - 1).unix_minus_steady;
    if (std::chrono::abs(change) <= kClockStep) return;
  }
  if (count_ == anchors_.size()) {
    std::shift_left(anchors_.begin(), anchors_.end(), 1);
    --count_;
  }
  anchors_.at(count_++) = now;
}

double AnchorHistory::to_unix(TimePoint time) const noexcept {
  const Anchor* in_force = &anchors_.front();
  for (const Anchor& anchor : anchors()) {
    if (anchor.since <= time) in_force = &anchor;
  }
  const nanoseconds unix_time =
      saturating_sum(time.time_since_epoch(), in_force->unix_minus_steady);
  return static_cast<double>(unix_time.count()) * 1e-9;
}

TimePoint AnchorHistory::from_unix(double unix_s) const noexcept {
  constexpr double kLimitNs = 9.2e18;  // just inside 64 bits: the years 1678 to 2261
  if (std::isnan(unix_s)) return TimePoint{};
  const double unix_ns = std::clamp(unix_s * 1e9, -kLimitNs, kLimitNs);
  const nanoseconds wall(static_cast<std::int64_t>(std::round(unix_ns)));
  for (std::size_t i = count_; i-- > 1;) {
    const TimePoint since = anchors_.at(i).since;
    const TimePoint candidate = steady_time(wall, anchors_.at(i));
    if (candidate >= since) return candidate;
    // The wall clock was set forward over this time.
    if (steady_time(wall, anchors_.at(i - 1)) >= since) return since;
  }
  return steady_time(wall, anchors_.front());
}

bool AnchorHistory::stepped_between(TimePoint begin, TimePoint end) const noexcept {
  return std::ranges::any_of(anchors().subspan(1), [&](const Anchor& anchor) {
    return begin < anchor.since && anchor.since <= end;
  });
}

}  // namespace wattle
