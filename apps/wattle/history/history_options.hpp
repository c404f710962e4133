// The command line of `wattle history`, and queries for saved runs: "tag:branch=main,command:make".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runs/history/history.hpp"

namespace wattle::app {

enum class HistoryAction : std::uint8_t { list, show, remove, export_all, import, check };

/// `wattle history`.
struct RunHistoryOptions {
  HistoryAction action = HistoryAction::list;
  std::vector<std::string> words{};  ///< IDs, or files
  HistoryFilter filter{};
  bool json = false;
  bool csv = false;
};

int execute(const RunHistoryOptions& options);

/// "2026-11-21", "2026-11-21 10:00", "2026-11-21T10:00:00" in the local zone, or "3d", "12h",
/// "30min", "90s", "2w" before `now_unix_s`. Throws `InvalidArgument`, which names `option`.
[[nodiscard]] double parse_time(const std::string& text, std::string_view option,
                                double now_unix_s);

/// True if `word` starts like a query: with "tag:", "command:", "host:", "since:" or "until:".
[[nodiscard]] bool is_history_query(std::string_view word) noexcept;

/// The runs that fulfil each of its parts, which commas separate ("\," is a comma). A part without
/// one of the words above is another tag. "tag:KEY" takes any value; "command:TEXT" command lines
/// that contain TEXT; times are those of `wattle history`, an age before `now_unix_s`. Throws
/// `InvalidArgument`.
[[nodiscard]] HistoryFilter parse_history_query(std::string_view query, double now_unix_s);

}  // namespace wattle::app
