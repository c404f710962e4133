#include "cli/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "base/text/option_words.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"save", "history", "tags"};

/// A line "name = value"; absent for a comment or an empty line.
struct SettingLine {
  std::string name;
  std::string value;
};
std::optional<SettingLine> parse_line(std::string_view line) {
  // An editor's mark of UTF-8, at the start of a file.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  line = trimmed(line, " \t\r");
  if (line.empty() || line.front() == '#') return std::nullopt;
  const std::string_view name = take_until(line, '=');
  return SettingLine{.name = std::string(trimmed(name)), .value = std::string(trimmed(line))};
}

std::optional<bool> parse_switch(std::string_view text) {
  constexpr std::array<std::string_view, 4> kYes = {"1", "yes", "true", "on"};
  constexpr std::array<std::string_view, 4> kNo = {"0", "no", "false", "off"};
  if (std::ranges::find(kYes, text) != kYes.end()) return true;
  if (std::ranges::find(kNo, text) != kNo.end()) return false;
  return std::nullopt;
}

/// "branch=main,cpu=big"
Tags parse_tags(std::string_view list, std::string_view option) {
  Tags tags;
  while (!list.empty()) {
    const auto [key, value] = parse_tag(trimmed(take_until(list, ',')), option);
    tags.insert_or_assign(key, value);
  }
  return tags;
}

/// False for a binary file.
bool is_text(std::string_view content) { return content.find('\0') == std::string_view::npos; }

std::string unknown_name(std::string_view name) {
  const std::string suggestion = did_you_mean(name, {kNames.begin(), kNames.end()});
  return fmt::format("unknown setting {}{}", printable(name),
                     suggestion.empty() ? "; the settings are save, history and tags" : suggestion);
}

void require_value(std::string_view name, const std::string& value) {
  if (std::ranges::find(kNames, name) == kNames.end()) throw InvalidArgument(unknown_name(name));
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(value, is_control)) {
    throw InvalidArgument(fmt::format("{} takes one line without control characters, not '{}'",
                                      name, printable(value)));
  }
  if (name == "save" && !parse_switch(value)) {
    throw InvalidArgument(fmt::format("save takes yes or no, not '{}'", printable(value)));
  }
  if (name == "history" && !value.starts_with('/')) {
    throw InvalidArgument(
        fmt::format("history takes an absolute path, not '{}'", printable(value)));
  }
  if (name == "tags") (void)parse_tags(value, "tags");
}

/// Takes a value that was checked.
void apply(Settings& settings, const std::string& name, const std::string& value,
           const std::string& source) {
  require_value(name, value);
  if (name == "save") settings.save = *parse_switch(value);
  if (name == "history") settings.history = value;
  if (name == "tags") settings.tags = parse_tags(value, name);
  const auto setting = std::ranges::find(settings.all, name, &Setting::name);
  setting->value = name == "save" ? (settings.save ? "yes" : "no") : value;
  setting->source = source;
}

}  // namespace

std::pair<std::string, std::string> parse_tag(std::string_view text, std::string_view option) {
  const std::size_t mark = text.find('=');
  constexpr std::size_t kMostBytes = 255;
  if (mark == 0 || mark == std::string_view::npos || text.size() > kMostBytes) {
    throw InvalidArgument(fmt::format("{} takes KEY=VALUE of at most {} bytes, not '{}'", option,
                                      kMostBytes, printable(text)));
  }
  return {std::string(text.substr(0, mark)), std::string(text.substr(mark + 1))};
}

Settings parse_settings(std::string_view content, const std::string& file,
                        const Environment& environment) {
  Settings settings;
  for (const std::string_view name : kNames) {
    settings.all.push_back({.name = std::string(name), .value = {}, .source = "default"});
  }
  settings.all.front().value = "no";
  const auto try_to_apply = [&](const std::string& name, const std::string& value,
                                const std::string& source) {
    try {
      apply(settings, name, value, source);
    } catch (const InvalidArgument& error) {
      settings.problems.push_back(fmt::format("{}: {}", source, error.what()));
    }
  };
  if (!is_text(content)) {
    settings.problems.push_back(fmt::format("{} is no text file", file));
    content = {};
  }
  constexpr std::size_t kMostProblems = 5;
  std::size_t number = 0;
  while (!content.empty()) {
    const auto line = parse_line(take_line(content));
    ++number;
    if (line) try_to_apply(line->name, line->value, fmt::format("{}, line {}", file, number));
  }
  if (settings.problems.size() > kMostProblems) {
    const std::size_t more = settings.problems.size() - kMostProblems;
    settings.problems.resize(kMostProblems);
    settings.problems.push_back(fmt::format("{}: {}", file, counted(more, "more line")));
  }
  const char* const save = environment("WATTLE_SAVE");
  if (save != nullptr && *save != '\0') try_to_apply("save", save, "WATTLE_SAVE");
  const char* const history = environment("WATTLE_HISTORY");
  if (history != nullptr && *history != '\0') {
    // Without the current folder a relative path means nothing: it is refused as such.
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(history, error);
    const std::size_t problems = settings.problems.size();
    try_to_apply("history", error ? history : path.string(), "WATTLE_HISTORY");
    // Who names a history wants no other one.
    if (settings.problems.size() > problems) {
      settings.history.clear();
      settings.why_no_history = "WATTLE_HISTORY names no history";
      settings.all[1] = {.name = "history", .value = {}, .source = settings.why_no_history};
      return settings;
    }
  }
  if (!settings.history.empty()) return settings;
  try {
    settings.history = default_history_path();
    settings.all[1].value = settings.history.string();
  } catch (const Error&) {
    settings.all[1].source = "neither XDG_STATE_HOME nor HOME is set";
    settings.why_no_history = settings.all[1].source + "; set WATTLE_HISTORY";
  }
  return settings;
}

std::filesystem::path history_of(const Settings& settings) {
  if (!settings.history.empty()) return settings.history;
  throw Error(fmt::format("there is no history: {}", settings.why_no_history));
}

std::filesystem::path settings_file() {
  return own_folder("configuration", "XDG_CONFIG_HOME", ".config") / "config";
}

Settings read_settings() {
  // A program with privileges takes neither from its user.
  const Environment environment = [](const char* name) -> const char* {
    return ::secure_getenv(name);
  };
  std::filesystem::path file;
  try {
    file = settings_file();
  } catch (const Error&) {
    return parse_settings("", "", environment);
  }
  try {
    return parse_settings(settings_content(file), printable(file.string()), environment);
  } catch (const Error& error) {
    Settings settings = parse_settings("", "", environment);
    settings.problems.emplace_back(error.what());
    return settings;
  }
}

std::string settings_content(const std::filesystem::path& file) {
  if (auto content = read_file(file.string())) return *std::move(content);
  if (errno == ENOENT || errno == ENOTDIR) return "";
  throw Error(fmt::format("cannot read {}: {}", printable(file.string()),
                          std::generic_category().message(errno)));
}

std::string with_setting(std::string_view content, std::string_view name,
                         const std::optional<std::string>& value) {
  if (!is_text(content)) {
    throw InvalidArgument("the configuration file is no text file; move it away");
  }
  require_value(name, value.value_or(name == "save" ? "no" : name == "history" ? "/" : ""));
  std::string text;
  bool is_written = false;
  while (!content.empty()) {
    const std::string_view line = take_line(content);
    const auto setting = parse_line(line);
    if (!setting || setting->name != name) {
      text += std::string(line) + "\n";
    } else if (value && !std::exchange(is_written, true)) {
      text += fmt::format("{} = {}\n", name, *value);
    }
  }
  if (value && !is_written) text += fmt::format("{} = {}\n", name, *value);
  return text;
}

}  // namespace wattle::app
