// The queue of updates of one reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "client/update.hpp"

namespace wattle::client {

/// A queue of at most `limit` updates. When it is full, the oldest update is dropped and counted.
/// The newest dropped update of each device is kept, and comes first in the next step: so a view
/// always has the current values. With a limit of 0 every update is kept in this way, and none is
/// counted.
///
/// Allocates only to grow. Not thread-safe.
class UpdateQueue {
 public:
  explicit UpdateQueue(std::size_t limit) : limit_(limit) {}

  /// Call it before the first update of slot `count` - 1.
  void expect_slots(std::size_t count) {
    kept_.resize(std::max(count, kept_.size()));
    dirty_.reserve(kept_.size());
  }

  void push(const Update& update) {
    if (limit_ == 0) return keep(update);
    if (count_ == limit_) {
      keep(pop());
      ++dropped_;
    }
    if (count_ == ring_.size()) grow();
    ring_[place(count_++)] = update;
  }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0 && dirty_.empty(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

  /// Calls `take(update)` for the kept updates, then for the queue up to the end of an event.
  template <class Take>
  void take_step(Take take) {
    for (const std::uint32_t slot : dirty_) {
      take(kept_[slot].update);
      kept_[slot].is_there = false;
    }
    dirty_.clear();
    while (count_ > 0) {
      const Update& update = pop();
      take(update);
      if (update.ends_event) break;
    }
  }

 private:
  struct LatestUpdate {
    Update update;
    bool is_there = false;
  };

  [[nodiscard]] std::size_t place(std::size_t offset) const noexcept {
    return (first_ + offset) % ring_.size();
  }

  [[nodiscard]] const Update& pop() noexcept {
    const Update& oldest = ring_[first_];
    first_ = place(1);
    --count_;
    return oldest;
  }

  void keep(const Update& update) {
    LatestUpdate& kept = kept_[update.slot];
    if (!std::exchange(kept.is_there, true)) dirty_.push_back(update.slot);
    kept.update = update;
    kept.update.ends_event = false;
  }

  void grow() {
    std::vector<Update> larger(std::min(limit_, std::max<std::size_t>(64, 2 * ring_.size())));
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[place(i)];
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::size_t limit_;
  std::vector<Update> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<LatestUpdate> kept_;    ///< by slot
  std::vector<std::uint32_t> dirty_;  ///< the slots with a kept update
  std::uint64_t dropped_ = 0;
};

}  // namespace wattle::client
