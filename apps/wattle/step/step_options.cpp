#include "step/step_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/files/state_folder.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr std::string_view kEnd = ".json";

std::string start_of(const StepPlace& place) { return fmt::format("job-{}.step-", place.job); }

std::string restart_part(unsigned restarts) {
  return restarts == 0 ? "" : fmt::format(".restart-{}", restarts);
}

bool is_of(const std::string& name, const StepPlace& place) {
  if (place.step.empty()) return name.starts_with(start_of(place)) && name.ends_with(kEnd);
  if (!name.starts_with(fmt::format("{}{}.node-", start_of(place), place.step))) return false;
  if (place.restarts > 0) return name.ends_with(restart_part(place.restarts) + std::string(kEnd));
  return name.ends_with(kEnd) && name.find(".restart-") == std::string::npos;
}

constexpr const char* kStepFooter = R"(
Measures this machine until stdin ends, a line "end" comes, or INT, TERM or HUP. Slurm's plugin
starts one per step and node (srun --wattle), as do the prolog scripts of fleet/slurm. The record
goes to FOLDER/job-JOB.step-STEP.node-NODE.json, where wattle report adds the nodes up. CMD is the
step's command, for the record: it is not run.
Exit status: 0, 1 if the record cannot be written, 64 for a wrong option.

examples:
  wattle step --job 77 --step 0 --node n1 -- ./solver < pipe
  wattle step --sum --job 77
)";

/// The options as they are written.
struct RawStep {
  StepOptions step;
  RawRoots roots;
  RawSaveOptions save;
  ParsedOptions values;
  std::string folder;

  void add(CLI::App& command);
  [[nodiscard]] StepOptions checked(const CommandLine& line) const;
};

/// Up to the largest process number of Linux.
template <class Number>
auto step_number() {
  constexpr Number kMost = 1U << 22U;
  return number_within(Number{0}, kMost, fmt::format("a number up to {}", kMost));
}

void RawStep::add(CLI::App& command) {
  command.footer(kStepFooter);
  add_value(command, "--job", step.place.job, "ID", "The job");
  add_value(command, "--step", step.place.step, "ID", "The step: 0, 1 ..., batch");
  add_value(command, "--node", step.place.node, "NAME", "This machine as Slurm names it");
  values.add(command, "--restarts", step.place.restarts, "NUMBER", "How often the job was requeued",
             step_number<unsigned>());
  add_value(command, "--array", step.array, "ID", "Array and task, 70_3: a tag of the saved run");
  add_value(command, "--name", step.job_name, "NAME", "The job's name: a tag of the saved run");
  add_value(command, "--folder", folder, "FOLDER",
            "Folder of the records (default: wattle/slurm in the state folder)");
  values.add(command, "--pid", step.pid, "PID", "Measure what the descendants of this process use",
             step_number<pid_t>());
  add_value(command, "--gpus", step.gpus, "LIST", kGpusHelp);
  values.add(command, "--allocated-gpus", step.allocated_gpus, "NUMBER",
             "GPUs that the job has on this machine, for GPU-hours", step_number<unsigned>());
  values.add(command, "--interval", step.interval, "SECONDS", "Seconds between two readings",
             parse_interval, "1");
  add_save(command, save, "the step");
  command.add_flag("--comment", step.comments,
                   "At the end write the sum of the job's records into its comment (scontrol)");
  command.add_flag("--sum", step.sums,
                   "Measure nothing: print the sum of the job's records, or of one step's");
  command.add_flag("--json", step.json, "With --sum: as JSON");
  values.add(command, "--nodes", step.nodes, "NUMBER",
             "With --sum: wait for the records of NUMBER nodes", step_number<std::size_t>());
  values.add(command, "--wait", step.wait, "SECONDS",
             "With --nodes: for at most SECONDS (default: 2)", parse_interval);
  add_roots(command, roots);
}

StepOptions RawStep::checked(const CommandLine& line) const {
  StepOptions options = step;
  options.command = line.after;
  options.system = system_of(roots);
  options.folder = folder.empty() ? state_folder() / "slurm" : std::filesystem::path(folder);
  check_step_word("--job", options.place.job);
  if (!options.sums || !options.place.step.empty()) check_step_word("--step", options.place.step);
  if (!options.sums) check_step_word("--node", options.place.node);
  options.saving = checked_save(save);
  return options;
}

}  // namespace

void check_step_word(std::string_view option, std::string_view word) {
  constexpr std::size_t kMostBytes = 255;
  const bool is_good =
      !word.empty() && word.size() <= kMostBytes &&
      (is_letter(word.front()) || is_digit(word.front())) && std::ranges::all_of(word, [](char c) {
        return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_' || c == '+';
      });
  if (is_good) return;
  throw InvalidArgument(fmt::format("{} takes letters, digits, '.', '-', '_' and '+', not '{}'",
                                    option, printable(word.substr(0, kMostBytes))));
}

std::string record_name(const StepPlace& place) {
  return fmt::format("{}{}.node-{}{}{}", start_of(place), place.step, place.node,
                     restart_part(place.restarts), kEnd);
}

std::vector<std::string> records_of(const std::filesystem::path& folder, const StepPlace& place) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  const std::filesystem::directory_iterator end;
  for (; !error && entry != end; entry.increment(error)) {
    if (is_of(entry->path().filename().string(), place)) paths.push_back(entry->path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

extern constinit const Subcommand kStepSubcommand = {
    .name = "step",
    .group = HelpGroup::measure,
    .summary = "Measure a step of a Slurm job; its plugin runs this",
    .arguments = " [-- CMD [ARG...]]",
    .takes_command = true,
    .add = add_options<RawStep>,
    .run = execute_with<StepOptions>,
    .opens_counters = [](const std::any& options) {
      return !std::any_cast<const StepOptions&>(options).sums;
    }};

}  // namespace wattle::app
