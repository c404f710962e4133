// The last PSS of a process, what it is worth now, and how much processor time may go into asking
// the kernel for it: it walks the page tables, and holds a lock that the process may need too.
// Arithmetic only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "usage/process/process.hpp"
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

/// The proportional memory of one process, as read. It is kept until an event changes it. Pages
/// that others share with it are counted by `TreeMemory`. Threads: a value type.
struct PssRecord {
  ProportionalMemory memory{};
  ProcessMemory resident{};  ///< when it was read
  TimePoint at;
  std::uint64_t tick = 0;
  PssCost cost{};
  std::uint64_t drift_bytes = 0;  ///< by what the shared pages of the tree had changed by then

  [[nodiscard]] std::uint64_t shared_bytes() const noexcept {
    return memory.rss_bytes - std::min(memory.private_bytes, memory.rss_bytes);
  }
  /// How far off `now` can be because the resident set has changed. New anonymous pages are
  /// private; those of files may be shared, and so may be whatever is no longer resident.
  [[nodiscard]] std::uint64_t doubt(const ProcessMemory& resident_now) const noexcept {
    const std::uint64_t before = anonymous(resident);
    const std::uint64_t after = anonymous(resident_now);
    const std::uint64_t of_files = resident.shared_bytes > resident_now.shared_bytes
                                       ? resident.shared_bytes - resident_now.shared_bytes
                                       : resident_now.shared_bytes - resident.shared_bytes;
    return of_files + (before > after ? before - after : 0);
  }
  /// The PSS and private part of the resident set of now: what has come is private, and what is
  /// gone was shared as the rest is.
  [[nodiscard]] ProportionalMemory now(const ProcessMemory& resident_now) const noexcept {
    ProportionalMemory memory_now = memory;
    memory_now.rss_bytes = resident_now.rss_bytes;
    if (resident_now.rss_bytes >= resident.rss_bytes) {
      const std::uint64_t growth = resident_now.rss_bytes - resident.rss_bytes;
      memory_now.pss_bytes += growth;
      memory_now.private_bytes += growth;
      return memory_now;
    }
    const double left =
        static_cast<double>(resident_now.rss_bytes) / static_cast<double>(resident.rss_bytes);
    for (std::uint64_t* bytes : {&memory_now.pss_bytes, &memory_now.private_bytes}) {
      *bytes = static_cast<std::uint64_t>(static_cast<double>(*bytes) * left);
    }
    return memory_now;
  }

 private:
  [[nodiscard]] static std::uint64_t anonymous(const ProcessMemory& memory) noexcept {
    return memory.rss_bytes - std::min(memory.shared_bytes, memory.rss_bytes);
  }
};

/// The memory of one process, as known to `TreeMemory`. Threads: a value type.
struct KnownPss {
  std::optional<PssRecord> record{};
  std::uint64_t first_tick = 0;  ///< at which it had memory; 0: it has none
  std::uint64_t seen_bytes = 0;  ///< its resident set in the last tick
  /// It is giving these back, of pages that others may have too: until that is done, their PSS
  /// changes.
  std::uint64_t leaving_bytes = 0;
};

}  // namespace wattle
