#include "history/save_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/settings.hpp"

namespace wattle::app {

void add_save(CLI::App& command, RawSaveOptions& raw, const std::string& what) {
  CLI::Option* save =
      command.add_flag("--save", raw.save, "Save " + what + " in the history (WATTLE_SAVE)");
  command.add_flag("--no-save", raw.no_save, "Do not save " + what + ", whatever the settings say")
      ->excludes(save);
  command.add_option("--tag", raw.tags, "Save " + what + ", with this tag; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

SaveOptions checked_save(const RawSaveOptions& raw) {
  SaveOptions options;
  for (const std::string& tag : raw.tags) options.tags.insert(parse_tag(tag, "--tag"));
  // Who names a tag wants to find the run by it.
  if (raw.save || !options.tags.empty()) options.save = true;
  if (raw.no_save) options.save = false;
  return options;
}

}  // namespace wattle::app
