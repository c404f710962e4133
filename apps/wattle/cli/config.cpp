// `wattle config`: the settings.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "cli/commands.hpp"
#include "cli/settings.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

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

}  // namespace

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

}  // namespace wattle::app
