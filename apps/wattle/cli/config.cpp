// `wattle config`: the settings.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "cli/settings.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/unexpected.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kConfigFooter = R"(
Prints the settings, their values and where each is from.

  wattle config get NAME           Print one value
  wattle config set NAME VALUE     Write it to the configuration file
  wattle config unset NAME         Remove it from there

settings:
  save       yes: save each run in the history (WATTLE_SAVE=1, run --save, bench --save)
  history    the file of the history (WATTLE_HISTORY)
  tags       tags of each saved run: KEY=VALUE, comma-separated

The file is ~/.config/wattle/config (XDG_CONFIG_HOME): lines NAME = VALUE. Options count more than
variables, and variables more than the file.
)";

enum class ConfigAction : std::uint8_t { list, get, set, unset };

struct ConfigOptions {
  ConfigAction action = ConfigAction::list;
  std::string name{};
  std::string value{};
};

std::string all_settings(const Settings& settings) {
  const TextStyle style = style_of(STDOUT_FILENO);
  TextTable table({Align::left, Align::left, Align::left}, style, 0);
  table.add({"setting", "value", "from"}, true);
  for (const Setting& setting : settings.all) {
    table.add({setting.name, setting.value.empty() ? "-" : printable(setting.value),
               printable(setting.source)});
  }
  return table.text();
}

std::string one_setting(const Settings& settings, const std::string& name) {
  const auto setting = std::ranges::find(settings.all, name, &Setting::name);
  if (setting == settings.all.end()) {
    throw InvalidArgument(fmt::format("unknown setting {}; the settings are save, history and tags",
                                      shell_quoted(name)));
  }
  return setting->value + "\n";
}

void write_setting(const ConfigOptions& options) {
  const std::filesystem::path file = settings_file();
  const std::string content = settings_content(file);
  const auto value =
      options.action == ConfigAction::set ? std::optional(options.value) : std::nullopt;
  const std::string changed = with_setting(content, options.name, value);
  if (changed == content) return;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) throw WriteError(file.parent_path().string(), error.value());
  const NewFile made = put_in_place(resolved_output_path(file.string()), changed);
  if (!made.fd) throw WriteError(file.string(), made.error);
}

int execute(const ConfigOptions& options) {
  if (options.action == ConfigAction::set || options.action == ConfigAction::unset) {
    write_setting(options);
    return 0;
  }
  const Settings settings = read_settings();
  for (const std::string& problem : settings.problems) {
    print_message("config", "ignored", problem);
  }
  Output::open("-", false)
      .write(options.action == ConfigAction::get ? one_setting(settings, options.name)
                                                 : all_settings(settings));
  return 0;
}

/// The options as they are written.
struct RawConfig {
  std::vector<std::string> words;

  void add(CLI::App& command) {
    command.footer(kConfigFooter);
    command.add_option("ACTION", words, "get, set or unset, and a setting")->type_name("");
  }
  [[nodiscard]] ConfigOptions checked(const CommandLine& line) const;
};

ConfigOptions RawConfig::checked(const CommandLine& /*line*/) const {
  ConfigOptions options;
  if (words.empty()) return options;
  constexpr std::array<std::pair<std::string_view, ConfigAction>, 4> kActions = {
      {{"list", ConfigAction::list},
       {"get", ConfigAction::get},
       {"set", ConfigAction::set},
       {"unset", ConfigAction::unset}}};
  options.action = action_of(words, kActions);
  const std::size_t wanted = options.action == ConfigAction::list  ? 1
                             : options.action == ConfigAction::set ? 3
                                                                   : 2;
  if (words.size() < wanted) {
    throw InvalidArgument(fmt::format("a setting is missing: wattle config {} NAME{}",
                                      words.front(), wanted == 3 ? " VALUE" : ""));
  }
  if (words.size() > wanted) throw InvalidArgument(unexpected_argument(words[wanted]));
  if (wanted > 1) options.name = words[1];
  if (wanted > 2) options.value = words[2];
  return options;
}

}  // namespace

extern constinit const Subcommand kConfigSubcommand = {.name = "config",
                                                       .group = HelpGroup::set_up,
                                                       .summary = "Show and change settings",
                                                       .arguments = " [ACTION [NAME [VALUE]]]",
                                                       .add = add_options<RawConfig>,
                                                       .run = execute_with<ConfigOptions>};

}  // namespace wattle::app
