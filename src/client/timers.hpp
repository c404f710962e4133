// Who is to be looked at when.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"

namespace wattle::client {

/// One time for each of a number of places. Allocates for the first time of a place only. Threads:
/// one at a time.
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
  /// Unless it is earlier already.
  void set_at_latest(std::size_t place, TimePoint time) {
    const auto& before = times_[place];
    if (!before || time < *before) set(place, time);
  }

  [[nodiscard]] TimePoint next() const noexcept {
    return order_.empty() ? TimePoint::max() : order_.begin()->first;
  }
  /// The place whose time is `next`; there is one.
  [[nodiscard]] std::size_t first() const noexcept { return order_.begin()->second; }

 private:
  std::vector<std::optional<TimePoint>> times_;
  std::set<std::pair<TimePoint, std::size_t>> order_;
};

}  // namespace wattle::client
