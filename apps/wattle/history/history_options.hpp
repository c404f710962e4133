// The command line of `wattle history`.
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

}  // namespace wattle::app
