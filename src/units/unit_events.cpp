#include "units/unit_events.hpp"

#include <algorithm>
#include <new>

#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

/// Threads take turns among the shards.
std::size_t number_of_this_thread() noexcept {
  static std::atomic<std::size_t> next = 0;
  static thread_local const std::size_t number = next++;
  return number;
}

std::atomic<std::uint64_t>& second_ends() noexcept {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

}  // namespace

UnitEvents::UnitEvents(const TimeSource& clock) : clock_(clock), forks_(forks()) {}

void UnitEvents::count_second_end() noexcept { ++second_ends(); }

std::uint64_t UnitEvents::ended_twice() noexcept { return second_ends(); }

UnitEvents::Shard& UnitEvents::shard() noexcept {
  return shards_.at(number_of_this_thread() % kShards);
}

std::int64_t UnitEvents::now_in(Shard& shard, std::int64_t after) const noexcept {
  const std::int64_t now = ns_of(clock_.now());
  shard.last_ns = std::max({now, shard.last_ns, after});
  return shard.last_ns;
}

void UnitEvents::refill(Shard& shard) {
  const std::scoped_lock lock(free_mutex_);
  shard.free.reserve(kSlotsAtOnce);
  const std::size_t taken = std::min<std::size_t>(free_.size(), kSlotsAtOnce);
  shard.free.insert(shard.free.end(), free_.end() - static_cast<std::ptrdiff_t>(taken),
                    free_.end());
  free_.resize(free_.size() - taken);
  for (std::size_t i = taken; i < kSlotsAtOnce; ++i) shard.free.push_back(next_slot_++);
}

std::optional<UnitEvents::Started> UnitEvents::begin(std::uint16_t column, std::int64_t weight,
                                                     std::uint8_t gpu,
                                                     const ThreadTime& thread) noexcept {
  if (is_copy()) return std::nullopt;
  Shard& own = shard();
  const std::scoped_lock lock(own.mutex);
  try {
    if (own.free.empty()) refill(own);
    const UnitId id = own.free.back();
    // Read under the lock: who drains the shard afterwards misses no earlier event.
    const std::int64_t at_ns = now_in(own, 0);
    own.events.push_back({.at_ns = at_ns,
                          .weight = weight,
                          .used_ns = thread.used_ns,
                          .slot = slot_of(id),
                          .thread = thread.thread,
                          .column = column,
                          .gpu = gpu});
    own.free.pop_back();
    ++own.begun;
    return Started{.id = id, .at_ns = at_ns};
  } catch (const std::bad_alloc&) {
    ++refused_;
    return std::nullopt;
  }
}

std::int64_t UnitEvents::leave(UnitEvent leaves, std::int64_t last_ns,
                               const UnitEvent* enters) noexcept {
  if (is_copy()) return last_ns;
  Shard& own = shard();
  const std::scoped_lock lock(own.mutex);
  const std::int64_t at_ns = now_in(own, last_ns + 1);
  try {
    own.events.reserve(own.events.size() + 2 > own.events.capacity() ? own.events.size() * 2 + 64
                                                                     : own.events.capacity());
  } catch (const std::bad_alloc&) {
    ++refused_;  // without its end a unit goes on: it gets shares that are others'
    return at_ns;
  }
  leaves.at_ns = at_ns;
  own.events.push_back(leaves);
  if (leaves.kind == UnitEvent::EventKind::end) ++own.ended;
  if (enters != nullptr) {
    own.events.push_back(*enters);
    own.events.back().at_ns = at_ns;
  }
  return at_ns;
}

std::uint64_t UnitEvents::running() const noexcept {
  if (is_copy()) return 0;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    begun += shard.begun;
    ended += shard.ended;
  }
  return begun > ended ? begun - ended : 0;
}

TimePoint UnitEvents::drain(std::vector<UnitEvent>& into) {
  const TimePoint until = clock_.now();
  const std::int64_t until_ns = ns_of(until);
  const auto has_more = [&](const Taken& taken) {
    return taken.first < taken.events.size() && taken.events[taken.first].at_ns < until_ns;
  };
  std::array<std::size_t, kShards> with_events{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    Taken& taken = taken_.at(i);
    taken.events.erase(taken.events.begin(),
                       taken.events.begin() + static_cast<std::ptrdiff_t>(taken.first));
    taken.first = 0;
    Shard& shard = shards_.at(i);
    const std::scoped_lock lock(shard.mutex);
    if (taken.events.empty()) {
      std::swap(taken.events, shard.events);
    } else {
      taken.events.insert(taken.events.end(), shard.events.begin(), shard.events.end());
      shard.events.clear();
    }
    if (has_more(taken)) with_events.at(count++) = i;
  }
  // The earliest first; few threads have events at a time.
  while (count > 0) {
    std::size_t earliest = 0;
    const auto head = [&](std::size_t i) -> const UnitEvent& {
      const Taken& taken = taken_.at(with_events.at(i));
      return taken.events[taken.first];
    };
    for (std::size_t i = 1; i < count; ++i) {
      if (head(i).at_ns < head(earliest).at_ns) earliest = i;
    }
    into.push_back(head(earliest));
    Taken& taken = taken_.at(with_events.at(earliest));
    ++taken.first;
    if (!has_more(taken)) with_events.at(earliest) = with_events.at(--count);
  }
  return until;
}

void UnitEvents::release(std::span<const UnitId> units) {
  // The same slot, another unit.
  constexpr UnitId kNextUse = UnitId{1} << 32U;
  const std::scoped_lock lock(free_mutex_);
  for (const UnitId unit : units) free_.push_back(unit + kNextUse);
}

}  // namespace wattle::detail
