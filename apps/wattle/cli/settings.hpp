// The settings for all commands: the configuration file and the environment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/job.hpp"
#include "runs/history/history.hpp"

namespace wattle::app {

/// One setting, as `wattle config` shows it.
struct Setting {
  std::string name;
  std::string value;   ///< empty: not set
  std::string source;  ///< "default", "WATTLE_SAVE", "/home/a/.config/wattle/config, line 2"
};

struct Settings {
  bool save = false;                    ///< save runs without --save
  std::filesystem::path history;        ///< empty: there is none
  std::string why_no_history{};         ///< and why, with the remedy
  Tags tags{};                          ///< of each saved run
  std::vector<Setting> all{};           ///< save, history, tags
  std::vector<std::string> problems{};  ///< what was ignored, and why: one sentence each
};

/// "branch=main" as a key and its value. Throws `InvalidArgument`, which names `option`.
[[nodiscard]] std::pair<std::string, std::string> parse_tag(std::string_view text,
                                                            std::string_view option);

/// `content`: of the configuration file, whose name is `file`. A variable counts more than the
/// file. Never throws for what either holds.
[[nodiscard]] Settings parse_settings(std::string_view content, const std::string& file,
                                      const Environment& environment);
/// The settings of this process: `$XDG_CONFIG_HOME/wattle/config`, or `~/.config/wattle/config`.
[[nodiscard]] Settings read_settings();
/// The file of the history. Throws `Error` if there is none, with the reason.
[[nodiscard]] std::filesystem::path history_of(const Settings& settings);
/// Throws `Error` if neither variable names a folder.
[[nodiscard]] std::filesystem::path settings_file();
/// Empty where there is no such file. Throws `Error` where it cannot be read.
[[nodiscard]] std::string settings_content(const std::filesystem::path& file);

/// The file's content with another value of a setting; absent: without it. Comments and other lines
/// stay. Throws `InvalidArgument` for a name or a value that is none.
[[nodiscard]] std::string with_setting(std::string_view content, std::string_view name,
                                       const std::optional<std::string>& value);

}  // namespace wattle::app
