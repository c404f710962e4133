#include "save_run.hpp"

#include <fmt/format.h>

#include <exception>
#include <system_error>

#include "git_dirty.hpp"
#include "output.hpp"
#include "privileges.hpp"
#include "runs/spool.hpp"
#include "settings.hpp"

namespace wattle::app {
namespace {

void warn_of_save(const std::string& text) { write_to_stderr("wattle run: " + text + "\n"); }

}  // namespace

std::optional<RunToSave> prepare_saving(const RunOptions& options, std::set<pid_t>& strangers) {
  const Settings settings = read_settings();
  for (const std::string& problem : settings.problems) warn_of_save("ignored: " + problem);
  if (!options.save.value_or(settings.save)) return std::nullopt;
  if (settings.history.empty()) {
    warn_of_save(
        "the run is not saved: neither XDG_STATE_HOME nor HOME is set; set WATTLE_HISTORY");
    return std::nullopt;
  }
  RunToSave to_save{.history = settings.history, .run = {.tags = settings.tags}};
  for (const auto& [key, value] : options.tags) to_save.run.tags.insert_or_assign(key, value);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return to_save;
  to_save.run.directory = folder.string();
  to_save.run.git = read_git_state(folder);
  // Nothing of the user's is executed with privileges.
  if (to_save.run.git && !has_foreign_privileges()) {
    constexpr std::chrono::milliseconds kLimit{1000};
    if (const auto pid = find_dirty(*to_save.run.git, kLimit)) strangers.insert(*pid);
  }
  return to_save;
}

void save_run(RunToSave& to_save, const Report& report, bool quiet) {
  try {
    to_save.run.record = to_json(report);
    if (to_save.run.record.ends_with('\n')) to_save.run.record.pop_back();
    if (report.energy.course.count() > 0) to_save.run.series = report.energy.course;
    const SaveOutcome outcome = save_or_spool(to_save.history, to_save.run);
    if (!outcome.problem.empty()) warn_of_save(outcome.problem);
    if (!quiet && !outcome.id.empty()) write_to_stderr(fmt::format("saved as {}\n", outcome.id));
  } catch (const std::exception& error) {
    warn_of_save(fmt::format("the run is not saved: {}", error.what()));
  }
}

}  // namespace wattle::app
