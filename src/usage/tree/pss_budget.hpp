// How much processor time may go into asking the kernel for proportional memory: it walks the page
// tables, and holds a lock that the process may need too. Arithmetic only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "wattle/clock.hpp"

namespace wattle {

enum class PssPolicy : std::uint8_t {
  budget,  ///< within 1 % of a core, and never 100 ms at once
  force,   ///< always
  never,
};

/// The processor time that one reading took, and the size of its process then.
struct PssCost {
  std::chrono::nanoseconds time{0};
  std::uint64_t rss_bytes = 0;
};

/// Threads: one at a time.
class PssBudget {
 public:
  using Time = std::chrono::nanoseconds;

  /// The longest time that one reading may take: beyond it the process is disturbed. Also what may
  /// be saved up, so that all processes of a new tree can be read at its first sample.
  static constexpr Time kLongest = std::chrono::milliseconds(100);

  explicit PssBudget(PssPolicy policy, TimePoint now) noexcept : policy_(policy), at_(now) {}

  /// Time has passed.
  void advance(TimePoint now) noexcept {
    constexpr int kShare = 100;
    left_ = std::min<Time>(left_ + (now - at_) / kShare, kLongest);
    at_ = now;
  }
  /// The expected time of a reading. `last`: what the last one of this process took; absent: it was
  /// not read yet.
  [[nodiscard]] Time expected(std::uint64_t rss_bytes,
                              const std::optional<PssCost>& last = {}) const noexcept {
    if (last && rss_bytes <= last->rss_bytes) return last->time;
    const Time one = last ? last->time : kOfOne;
    const std::uint64_t more = last ? rss_bytes - last->rss_bytes : rss_bytes;
    return one + per_gib(std::min(more, kMostGiB * kGiB), last ? rate_of(*last) : ns_per_gib_);
  }
  [[nodiscard]] bool is_too_large(std::uint64_t rss_bytes,
                                  const std::optional<PssCost>& last = {}) const noexcept {
    return policy_ == PssPolicy::budget && expected(rss_bytes, last) > kLongest;
  }
  /// To be asked before a reading.
  [[nodiscard]] bool allows(std::uint64_t rss_bytes,
                            const std::optional<PssCost>& last = {}) const noexcept {
    return is_forced() || (policy_ == PssPolicy::budget && !is_too_large(rss_bytes, last) &&
                           expected(rss_bytes, last) <= left_);
  }
  /// True if half of what can be saved up remains: enough to read what need not be read now.
  [[nodiscard]] bool has_spare() const noexcept {
    return policy_ == PssPolicy::budget && left_ >= kLongest / 2;
  }
  [[nodiscard]] bool is_forced() const noexcept { return policy_ == PssPolicy::force; }
  /// A reading took this.
  void spend(const PssCost& cost) noexcept {
    left_ -= cost.time;
    if (cost.rss_bytes < kLeastToLearn) return;
    // Huge pages cost nearly nothing; the next process may have none.
    ns_per_gib_ = std::max((ns_per_gib_ + rate_of(cost)) / 2, kLeastRate);
  }

 private:
  static constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  static constexpr std::uint64_t kMostGiB = 1000;
  static constexpr std::uint64_t kLeastToLearn = kGiB / 32;
  static constexpr Time kOfOne = std::chrono::microseconds(25);
  /// 4 to 25 ms per GiB in pages of 4 KiB were seen, by machine.
  static constexpr std::uint64_t kFirstRate = 25'000'000;
  static constexpr std::uint64_t kLeastRate = 4'000'000;

  [[nodiscard]] static std::uint64_t rate_of(const PssCost& cost) noexcept {
    const std::uint64_t mib = std::max<std::uint64_t>(cost.rss_bytes >> 20U, 1);
    return static_cast<std::uint64_t>(std::max<Time::rep>(cost.time.count(), 0)) / mib * 1024;
  }
  [[nodiscard]] static Time per_gib(std::uint64_t bytes, std::uint64_t ns_per_gib) noexcept {
    return Time(bytes / (kGiB / 1024) * (ns_per_gib / 1024));
  }

  PssPolicy policy_;
  TimePoint at_;
  Time left_ = kLongest;
  std::uint64_t ns_per_gib_ = kFirstRate;  ///< of a process that was not read yet
};

}  // namespace wattle
