// How many units had which energy, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wattle/work_units.hpp"

namespace wattle::detail {

/// Counts energies in buckets whose bounds are powers of 2^(1/32): 2.2 % apart, those of a native
/// histogram of Prometheus with schema 5. Threads: one at a time.
class UnitSketch {
 public:
  static constexpr int kPerOctave = 32;
  static constexpr int kLeastExponent = -40;  ///< 1 pJ
  static constexpr int kMostExponent = 50;    ///< 1 PJ

  void add(double joules) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The energy that a part of all units does not exceed, of at least one unit. `rank`: 0 to 1.
  [[nodiscard]] double quantile(double rank) const noexcept;
  /// In as many buckets as a reader has room for. Each joins buckets of the sketch whose places
  /// start at a multiple of how many it joins, so that distributions of one `ratio` can be added.
  [[nodiscard]] UnitDistribution distribution() const;

 private:
  static constexpr std::size_t kMostShown = 64;  ///< buckets of a distribution
  static constexpr std::size_t kBuckets =
      static_cast<std::size_t>(kMostExponent - kLeastExponent) * kPerOctave;

  [[nodiscard]] static std::size_t bucket_of(double joules) noexcept;

  std::uint64_t count_ = 0;
  std::uint64_t none_ = 0;  ///< 0 or less: a share above idle can be
  double least_ = 0.0;
  double most_ = 0.0;
  std::array<std::uint64_t, kBuckets> buckets_{};
};

}  // namespace wattle::detail
