#include "cli/ticker.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "wattle/error.hpp"

namespace wattle::app {

using std::chrono::nanoseconds;

namespace {

timespec to_timespec(nanoseconds time) noexcept {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = whole.count(), .tv_nsec = (time - whole).count()};
}

}  // namespace

Ticker::Ticker(TimePoint begin, nanoseconds interval, nanoseconds longest_period)
    : reads_per_interval_((interval + longest_period - nanoseconds(1)) / longest_period),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  const nanoseconds period = interval / reads_per_interval_;
  const itimerspec spec{.it_interval = to_timespec(period),
                        .it_value = to_timespec(begin.time_since_epoch() + period)};
  if (!timer_ || ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0) {
    throw Error("cannot make a timer: " + std::generic_category().message(errno));
  }
}

bool Ticker::ends_interval() noexcept {
  std::uint64_t expired = 0;
  if (::read(timer_.get(), &expired, sizeof expired) != sizeof expired) return false;
  late_ += expired - 1;
  const std::uint64_t before = reads_ / static_cast<std::uint64_t>(reads_per_interval_);
  reads_ += expired;
  return reads_ / static_cast<std::uint64_t>(reads_per_interval_) != before;
}

}  // namespace wattle::app
