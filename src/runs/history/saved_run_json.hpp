// A saved run as one line of JSON, which the history exports, imports, and keeps in its spool; and
// the IDs of such runs: eight letters and digits, derived from what was saved.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runs/history/history.hpp"
#include "runs/record_text.hpp"

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

inline constexpr const char* kSavedRunSchema = "wattle.saved/1";

/// One line without its end: `wattle.saved/1`.
[[nodiscard]] std::string saved_run_line(const SavedRun& run);

/// The inverse, and also a line that is the record of a run itself (`wattle.run/2`). `name`: where
/// the line is from, for the error. Throws `FormatError`, one sentence.
[[nodiscard]] SavedRun parse_saved_run(std::string_view line, const std::string& name);

/// The run of such a line, with the course of its power, or that of a record alone. Throws
/// `FormatError`.
[[nodiscard]] Report run_of_saved(RecordText record);

/// The summary of a run, as an object of `wattle.history/1`.
[[nodiscard]] nlohmann::ordered_json summary_json(const RunSummary& run);

}  // namespace wattle
