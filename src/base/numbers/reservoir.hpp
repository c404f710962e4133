// A fair sample of numbers that keep coming, in bounded memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/numbers/uint128.hpp"

namespace wattle {

/// Keeps every value until it is full, and from then on a uniform sample of all that came
/// (Vitter's algorithm R). The same values give the same sample. Allocates at construction alone.
/// Threads: one at a time.
template <class T>
class Reservoir {
 public:
  /// `capacity` is not 0.
  explicit Reservoir(std::size_t capacity) : kept_(capacity) {}

  void add(const T& value) noexcept {
    const std::uint64_t place = seen_ < kept_.size() ? seen_ : random_below(seen_ + 1);
    ++seen_;
    if (place < kept_.size()) kept_[place] = value;
  }

  /// How many values came.
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
  /// Those that are kept, in no particular order.
  [[nodiscard]] std::span<const T> sample() const noexcept {
    return std::span(kept_).first(std::min<std::uint64_t>(seen_, kept_.size()));
  }

 private:
  /// Evenly among the numbers below `bound`, within 1 in 2^64 / bound.
  std::uint64_t random_below(std::uint64_t bound) noexcept {
    state_ += 0x9E3779B97F4A7C15U;  // splitmix64 (Steele, Lea, Flood, 2014)
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    mixed ^= mixed >> 31U;
    return static_cast<std::uint64_t>((Uint128{mixed} * bound) >> 64U);
  }

  std::vector<T> kept_;
  std::uint64_t seen_ = 0;
  std::uint64_t state_ = 0;
};

template <class T>
[[nodiscard]] std::vector<T> sorted(std::span<const T> values) {
  std::vector<T> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

/// The least of the `sorted` values that `fraction` (0 to 1) of them do not exceed: 0.5 is the
/// median. T{} where there are none.
template <class T>
[[nodiscard]] T quantile(std::span<const T> sorted, double fraction) {
  if (sorted.empty()) return T{};
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::clamp(rank - 1.0, 0.0, last))];
}

}  // namespace wattle
