// The command lines of `wattle history`, `wattle config`, `wattle report` and `wattle mark`.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::app {

/// What the options are read into before they are checked.
struct RawHistoryOptions {
  HistoryOptions history;
  std::vector<std::string> words;  ///< "show", "k3m9x2qa"
  std::vector<std::string> tags;
  std::string since;
  std::string until;
  std::string limit;
  std::vector<std::string> config_words;
  ReportOptions report;
  MarkOptions mark;
  bool ends = false;
  bool goes_on = false;
  bool is_unit = false;
  std::string weight;
  std::string work;
};

/// `raw` outlives the parsing.
void add_history(CLI::App& app, RawHistoryOptions& raw);
void add_config(CLI::App& app, RawHistoryOptions& raw);
void add_mark(CLI::App& app, RawHistoryOptions& raw);
void add_report(CLI::App& app, RawHistoryOptions& raw);

/// Throw `InvalidArgument`.
[[nodiscard]] HistoryOptions checked_history(const RawHistoryOptions& raw);
[[nodiscard]] ConfigOptions checked_config(const RawHistoryOptions& raw);
[[nodiscard]] MarkOptions checked_mark(const RawHistoryOptions& raw);
[[nodiscard]] ReportOptions checked_report(const RawHistoryOptions& raw);

/// "2026-11-21", "2026-11-21 10:00", "2026-11-21T10:00:00" in the local zone, or "3d", "12h",
/// "30min", "90s", "2w" before `now_unix_s`. Throws `InvalidArgument`, which names `option`.
[[nodiscard]] double parse_time(const std::string& text, std::string_view option,
                                double now_unix_s);

}  // namespace wattle::app
