// A saved run as one line of JSON: what the history exports, imports, and keeps in its spool.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runs/history/history.hpp"
#include "runs/record_text.hpp"

namespace wattle {

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
