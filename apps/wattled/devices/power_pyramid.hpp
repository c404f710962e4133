// The power of a domain in slots of equal length, and sums of ever more of them: what happened in
// any number of slots, at a cost that grows with the logarithm of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wattle::daemon {

/// The power over one or more slots, in watts.
struct PowerSummary {
  float sum = 0.0F;    ///< of the means of the slots, each times the known part of it
  float known = 0.0F;  ///< known slots; 0.5: a half of one
  /// Above `highest` where nothing is known.
  float lowest = std::numeric_limits<float>::infinity();
  float highest = -std::numeric_limits<float>::infinity();

  void add(const PowerSummary& other) noexcept {
    sum += other.sum;
    known += other.known;
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
  }
};

/// The newest slots: 18 bytes for each. Threads: one at a time.
class PowerPyramid {
 public:
  /// Slots in a summary of the second level, summaries of that in one of the third, and so on.
  static constexpr std::uint64_t kFan = 8;

  /// Keeps at least `kept` > 0 slots; older ones are dropped.
  explicit PowerPyramid(std::size_t kept);

  void push(const PowerSummary& slot);
  /// The number of the next slot; the first one has the number 0.
  [[nodiscard]] std::uint64_t size() const noexcept { return levels_.front().count; }
  /// The number of the oldest slot that is kept.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return levels_.front().oldest(); }

  /// All slots from `first` to before `last`. Those that are not kept count as unknown.
  [[nodiscard]] PowerSummary sum(std::uint64_t first, std::uint64_t last) const {
    PowerSummary all;
    visit(first, last, [&](const PowerSummary& part) { all.add(part); });
    return all;
  }
  /// Calls `look(const PowerSummary&)` for parts that make up these slots: at most 14 per level.
  template <class Look>
  void visit(std::uint64_t first, std::uint64_t last, Look look) const;

 private:
  /// A ring.
  struct PyramidLevel {
    std::size_t capacity;
    std::vector<PowerSummary> ring;
    std::uint64_t count = 0;  ///< that were pushed

    [[nodiscard]] std::uint64_t oldest() const noexcept {
      return count > capacity ? count - capacity : 0;
    }
    [[nodiscard]] const PowerSummary& at(std::uint64_t number) const {
      return ring[static_cast<std::size_t>(number % capacity)];
    }
    void push(const PowerSummary& summary);
  };

  std::vector<PyramidLevel> levels_;
};

template <class Look>
void PowerPyramid::visit(std::uint64_t first, std::uint64_t last, Look look) const {
  first = std::max(first, oldest());
  last = std::min(last, size());
  while (first < last) {
    std::size_t level = 0;
    std::uint64_t length = 1;
    const auto fits = [&](std::uint64_t slots) {
      return first % slots == 0 && slots <= last - first;
    };
    for (; level + 1 < levels_.size() && fits(length * kFan); length *= kFan) ++level;
    look(levels_[level].at(first / length));
    first += length;
  }
}

}  // namespace wattle::daemon
