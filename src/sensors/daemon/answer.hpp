// Parses a daemon's answer to the one request that is sent: only the HTTP and JSON needed for it.
// Foreign bytes: nothing throws, nothing allocates, no number is made up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wattle::daemon_source {

/// More packages than any machine has.
inline constexpr std::size_t kMostCpus = 32;

/// The counters of one CPU: a package, a die or the platform.
struct CpuCounters {
  std::uint32_t id = 0;
  /// The daemon's name of it, in the text of the answer; empty with zeusd and older wattled.
  std::string_view domain{};
  std::optional<std::uint64_t> cpu_uj{};   ///< absent: cannot be read
  std::optional<std::uint64_t> dram_uj{};  ///< absent: there is none, or it cannot be read
  /// Since when they count without a break, in ms of the daemon's wall clock; absent with zeusd.
  std::optional<std::uint64_t> since_ms{};
  friend bool operator==(const CpuCounters&, const CpuCounters&) = default;
};

struct AllCounters {
  std::array<CpuCounters, kMostCpus> cpus{};
  std::size_t count = 0;

  /// Null where there is no such CPU.
  [[nodiscard]] const CpuCounters* find(std::uint32_t id) const noexcept;
  [[nodiscard]] const CpuCounters* find(std::string_view domain) const noexcept;
};

/// How much of an answer a text is.
enum class Extent : std::uint8_t {
  part,   ///< more must come
  whole,  ///< all of it, and perhaps more than it
  none,   ///< it starts no answer
};

struct Head {
  Extent extent = Extent::part;
  unsigned status = 0;
  std::size_t body_at = 0;     ///< where the body starts
  std::size_t body_bytes = 0;  ///< how long it is
  bool closes = false;         ///< no question can follow on this connection
};

/// Parses the bytes received so far. The body must have a length, as those of wattled and zeusd do.
[[nodiscard]] Head parse_head(std::string_view text) noexcept;

/// `{"0":{"cpu_energy_uj":5,"dram_energy_uj":null}}`, in any order and with other keys beside them;
/// absent where that is not what stands there. The result refers to the text.
[[nodiscard]] std::optional<AllCounters> parse_counters(std::string_view json) noexcept;

}  // namespace wattle::daemon_source
