#include "history/save_run.hpp"

#include <CLI/CLI.hpp>
#include <exception>
#include <system_error>
#include <utility>

#include "base/failure.hpp"
#include "base/text/text.hpp"
#include "cli/privileges.hpp"
#include "cli/settings.hpp"
#include "history/git_dirty.hpp"
#include "output/output.hpp"
#include "runs/history/spool.hpp"

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

RunSaver::RunSaver(std::string command, const SaveOptions& options, std::set<pid_t>& strangers)
    : command_(std::move(command)) {
  // Whatever is wrong, the command runs.
  try {
    prepare(options, strangers);
  } catch (const std::exception& error) {
    is_wanted_ = false;
    print_message(command_, "nothing is saved", failure_text(error));
  }
}

void RunSaver::prepare(const SaveOptions& options, std::set<pid_t>& strangers) {
  const Settings settings = read_settings();
  for (const std::string& problem : settings.problems) print_message(command_, "ignored", problem);
  if (!options.save.value_or(settings.save)) return;
  if (settings.history.empty()) {
    print_message(command_, "nothing is saved", settings.why_no_history);
    return;
  }
  is_wanted_ = true;
  history_ = settings.history;
  common_.tags = settings.tags;
  for (const auto& [key, value] : options.tags) common_.tags.insert_or_assign(key, value);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return;
  common_.directory = folder.string();
  common_.git = read_git_state(folder);
  // Nothing of the user's is executed with privileges.
  if (common_.git && !has_foreign_privileges()) {
    constexpr std::chrono::milliseconds kLimit{1000};
    strangers.merge(find_dirty(*common_.git, kLimit));
  }
}

SavedRun RunSaver::run_of(const Report& report) const {
  SavedRun run = common_;
  run.record = to_json(report);
  if (run.record.ends_with('\n')) run.record.pop_back();
  run.summary = summary_of(report);
  if (report.energy.course.count() > 0) run.series = report.energy.course;
  return run;
}

std::vector<std::string> RunSaver::save(std::span<const SavedRun> runs) const noexcept {
  try {
    SaveOutcome outcome = save_or_spool(history_, runs);
    if (!outcome.problem.empty()) print_message(command_, outcome.problem);
    if (outcome.taken_in > 0) {
      print_message(command_, "saved " + counted(outcome.taken_in, "run") + " that waited");
    }
    return std::move(outcome.ids);
  } catch (const std::exception& error) {
    print_message(command_, "not saved", failure_text(error));
  }
  return {};
}

}  // namespace wattle::app
