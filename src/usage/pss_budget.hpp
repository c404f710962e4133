// How much time may go into asking the kernel for proportional memory: it walks the page tables,
// and holds a lock that the process needs too. Arithmetic only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "wattle/clock.hpp"

namespace wattle {

enum class PssPolicy : std::uint8_t {
  budget,  ///< within 1 % of a core, and never 20 ms at once
  force,   ///< always
  never,
};

/// Threads: one at a time.
class PssBudget {
 public:
  using Time = std::chrono::nanoseconds;

  /// The longest time that one reading may take: beyond it the process is disturbed.
  static constexpr Time kLongest = std::chrono::milliseconds(20);
  /// What a reading is expected to take: 5 ms a GiB in pages of 4 KiB, 25 us for a small process.
  [[nodiscard]] static constexpr Time expected(std::uint64_t rss_bytes) noexcept {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    constexpr std::uint64_t kNsPerGiB = 5'000'000;
    constexpr std::uint64_t kMostGiB = 1000;
    const std::uint64_t bytes = std::min(rss_bytes, kMostGiB * kGiB);
    return std::chrono::microseconds(25) + Time(bytes / (kGiB / 1024) * kNsPerGiB / 1024);
  }

  explicit PssBudget(PssPolicy policy, TimePoint now) noexcept : policy_(policy), at_(now) {}

  /// Time has passed.
  void advance(TimePoint now) noexcept {
    constexpr int kShare = 100;
    left_ = std::min<Time>(left_ + (now - at_) / kShare, kLongest);
    at_ = now;
  }
  [[nodiscard]] bool is_too_large(std::uint64_t rss_bytes) const noexcept {
    return policy_ == PssPolicy::budget && expected(rss_bytes) > kLongest;
  }
  /// To be asked before a reading.
  [[nodiscard]] bool allows(std::uint64_t rss_bytes) const noexcept {
    return policy_ == PssPolicy::force ||
           (policy_ == PssPolicy::budget && !is_too_large(rss_bytes) &&
            expected(rss_bytes) <= left_);
  }
  /// A reading took so long.
  void spend(Time time) noexcept { left_ -= time; }

 private:
  PssPolicy policy_;
  TimePoint at_;
  Time left_ = kLongest;
};

}  // namespace wattle
