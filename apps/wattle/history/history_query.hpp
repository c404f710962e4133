// Saved runs by what they have in common: "tag:branch=main,command:make".
#pragma once

#include <string_view>

#include "runs/history/history.hpp"

namespace wattle::app {

/// True if `word` starts like a query: with "tag:", "command:", "host:", "since:" or "until:".
[[nodiscard]] bool is_history_query(std::string_view word) noexcept;

/// The runs that fulfil each of its parts, which commas separate ("\," is a comma). A part without
/// one of the words above is another tag. "tag:KEY" takes any value; "command:TEXT" command lines
/// that contain TEXT; times are those of `wattle history`, an age before `now_unix_s`. Throws
/// `InvalidArgument`.
[[nodiscard]] HistoryFilter parse_history_query(std::string_view query, double now_unix_s);

}  // namespace wattle::app
