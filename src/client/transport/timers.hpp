// One timer for each of a number of places.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"

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

}  // namespace wattle::client
