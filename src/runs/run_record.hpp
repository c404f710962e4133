// Runs as they were recorded: the JSON `wattle.run/2`, read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace wattle {

struct RecordText;

/// False for a time that no run takes, whose quotients would overflow.
[[nodiscard]] bool is_possible_time(Seconds time) noexcept;

/// The run of a record. Keys that are unknown here are ignored; texts are foreign, and made
/// printable, except for the command, which `shell_line` makes so. Throws `FormatError`, one
/// sentence, where the record is of another schema or version, or lacks what each run has.
[[nodiscard]] Report run_of(RecordText record);

/// One record. `name`: where the text is from, for the error: "run.json", "standard input". Throws
/// as `run_of`, and where the text is empty, cut off, or no JSON.
[[nodiscard]] Report parse_run_record(std::string_view json, const std::string& name);

/// The records of a file: one JSON value, or one record per line (JSON lines); at least one. Throws
/// as `parse_run_record`; the sentence names the line.
[[nodiscard]] std::vector<Report> parse_run_records(std::string_view text, const std::string& name);

}  // namespace wattle
