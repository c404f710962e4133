// The names of saved runs: eight letters and digits, derived from what was saved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wattle {

/// Bits of a run's ID.
inline constexpr unsigned kRunIdBits = 40;

/// The ID of a record by its text. Equal records have equal IDs; two of a million different ones
/// share one with a probability of 0.4, and then the later one gets the next free ID.
[[nodiscard]] std::uint64_t run_id_of(std::string_view record) noexcept;

/// The one after it; the first one after the last.
[[nodiscard]] constexpr std::uint64_t next_run_id(std::uint64_t id) noexcept {
  return (id + 1) & ((std::uint64_t{1} << kRunIdBits) - 1);
}

/// "k3m9x2qa": base 32 without the letters i, l, o and u.
[[nodiscard]] std::string run_id_text(std::uint64_t id);

/// The IDs that start with `text`, in any case: from `first` to `last`.
struct RunIdRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// Absent if `text` is not the start of an ID, at least four characters long.
[[nodiscard]] std::optional<RunIdRange> parse_run_id(std::string_view text) noexcept;

}  // namespace wattle
