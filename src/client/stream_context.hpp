// The objects that the parts of a stream share: timers, a limit of what a server may send, and the
// rest.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "client/stream_history.hpp"
#include "client/transport/transport.hpp"
#include "client/update_hub.hpp"
#include "wattle/clock.hpp"
#include "wire/event.hpp"

namespace wattle::client {

/// Allocates only when a place is set for the first time. Not thread-safe.
class Timers {
 public:
  explicit Timers(std::size_t count) : times_(count) {}

  void set(std::size_t place, TimePoint time) {
    std::optional<TimePoint>& before = times_[place];
    if (before == time) return;
    if (before) {
      auto node = order_.extract({*before, place});
      node.value().first = time;
      order_.insert(std::move(node));
    } else {
      order_.insert({time, place});
    }
    before = time;
  }
  /// Sets the time, unless the place has an earlier one.
  void set_at_latest(std::size_t place, TimePoint time) {
    const auto& before = times_[place];
    if (!before || time < *before) set(place, time);
  }

  [[nodiscard]] TimePoint next() const noexcept {
    return order_.empty() ? TimePoint::max() : order_.begin()->first;
  }
  /// The place whose time is `next`. Requires that a place is set.
  [[nodiscard]] std::size_t first() const noexcept { return order_.begin()->second; }

 private:
  std::vector<std::optional<TimePoint>> times_;
  std::set<std::pair<TimePoint, std::size_t>> order_;
};

/// A budget that refills at `per_second`, up to `burst`. Not thread-safe.
class FlowLimit {
 public:
  FlowLimit(double per_second, double burst) noexcept
      : per_second_(per_second), burst_(burst), left_(burst) {}

  /// Takes `amount` from the budget. False if less was left.
  [[nodiscard]] bool admits(double amount, TimePoint now) noexcept {
    const Seconds passed = std::max(Seconds(now - refilled_), Seconds(0));
    left_ = std::min(burst_, left_ + per_second_ * passed.count());
    refilled_ = now;
    left_ -= amount;
    return left_ >= 0.0;
  }

 private:
  double per_second_;
  double burst_;
  double left_;
  TimePoint refilled_{};
};

/// Threads: one at a time (the stream's).
struct StreamContext {
  RequestTransport& transport;
  UpdateHub& hub;
  Timers& timers;
  const TimeSource& clock;
  /// From 0 up to 1.
  std::function<double()> chance;
  std::chrono::milliseconds reconnect_delay;
  std::chrono::milliseconds longest_reconnect_delay;
  std::chrono::milliseconds timeout;
  /// Null: energies are not kept.
  StreamHistory* book = nullptr;

  wire::EventParser parser{};
  /// The time, read once for all data that arrived together.
  TimePoint now{};
  double unix_now_s = 0.0;

  void read_clock() noexcept {
    now = clock.now();
    unix_now_s = to_unix(now);
  }
};

}  // namespace wattle::client
