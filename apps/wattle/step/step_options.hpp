// The command line of `wattle step`, and the records of a job's steps: one file for each step and
// node, in one folder.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/save_run.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// A step on a node. Its texts are parts of a file's name: see `check_step_word`.
struct StepPlace {
  std::string job;
  std::string step;       ///< "0", "batch" ...
  std::string node;       ///< as Slurm names it
  unsigned restarts = 0;  ///< how often the job was requeued before
};

/// Throws `InvalidArgument`, which names `option`, unless `word` has at most 255 letters, digits,
/// ".", "-", "_" or "+", and starts with a letter or digit.
void check_step_word(std::string_view option, std::string_view word);

/// "job-77.step-0.node-n1.json", "job-77.step-0.node-n1.restart-2.json".
[[nodiscard]] std::string record_name(const StepPlace& place);

/// The paths of the records of a job, sorted. `step`: empty is every step; of one step only those
/// since the last requeue, whose number is `restarts`. A folder that cannot be read has none.
[[nodiscard]] std::vector<std::string> records_of(const std::filesystem::path& folder,
                                                  const StepPlace& place);

struct StepOptions {
  System system;
  std::vector<std::string> command;  ///< of the step, for its record; may be empty
  StepPlace place;
  std::filesystem::path folder;  ///< of the records
  std::chrono::nanoseconds interval{0};
  std::string gpus = "all";                  ///< see `parse_gpus`
  std::optional<unsigned> allocated_gpus{};  ///< that the job has on this machine
  pid_t pid = 0;                             ///< whose descendants are the step's; 0: unknown
  std::string job_name;                      ///< becomes a tag; may hold anything
  std::string array;                         ///< "70_3"; empty: none
  SaveOptions saving{};
  bool comments = false;  ///< the job's sum becomes its comment in Slurm
  bool sums = false;      ///< --sum: reports the job's or the step's records, and measures nothing
  bool json = false;
  std::size_t nodes = 0;                                    ///< whose records a sum waits for
  std::chrono::nanoseconds wait = std::chrono::seconds(2);  ///< at most
};

int execute(const StepOptions& options);

}  // namespace wattle::app
