// The last PSS of a process, and what it is worth now. Arithmetic only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "usage/process/process.hpp"
#include "usage/tree/pss_budget.hpp"

namespace wattle {

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
