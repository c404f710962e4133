// Recordings of `wattle top`: one line of JSON for each period, after a line that names the format.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "top/observation.hpp"

namespace wattle::app {

/// The first line of a recording.
inline constexpr std::string_view kTopRecordStart = R"({"schema":"wattle.top_record/1")";
/// Its first line, with the line end.
[[nodiscard]] std::string top_record_header();
/// A period as a line, with the line end.
[[nodiscard]] std::string to_record_line(const TopObservation& seen);
/// Absent where the line is none. What is not known or not possible is absent in the result; texts
/// are foreign.
[[nodiscard]] std::optional<TopObservation> parse_record_line(std::string_view line);

}  // namespace wattle::app
